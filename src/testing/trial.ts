import { readFileSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { unguarded, withDefaults } from "../index.ts";
import type {
  Cofferdam,
  DeclaredCapabilities,
  EntryType,
  ForkOptions,
  Resource,
  SandboxRef,
  SandboxStatus,
  SandboxStrategy,
} from "../index.ts";
import { outputOf, runProgram } from "./run-program.ts";
import { SAMPLE_TREE, type SampleTree } from "./sample-tree.ts";
import { type Snapshot, identitiesOf, snapshotOf, takeSnapshot } from "./snapshot.ts";
import type { ConformanceSession, ConformanceSubject } from "./subject.ts";

/** Plans, transactions and history belong to the engine, not to a strategy. */
const LIST_PRIVATE =
  "find . ! -readable -prune -o -regextype posix-extended -not -regex '\\./(plans|tx|done|.*lock.*)(/.*)?' -print";

/** The plan that checks work in. */
export const PLAN = "conformance";

/** One check at work: an installation, a resource and a sandbox of it, all of its own. */
export class Trial implements AsyncDisposable {
  readonly session: ConformanceSession;
  readonly strategyName: string;
  /** The strategy as callers get it: guarded by the engine. */
  readonly strategy: SandboxStrategy;
  readonly capabilities: DeclaredCapabilities;
  readonly resource: Resource;
  readonly #refs: SandboxRef[] = [];

  private constructor(
    session: ConformanceSession,
    strategyName: string,
    strategy: SandboxStrategy,
    resource: Resource,
  ) {
    this.session = session;
    this.strategyName = strategyName;
    this.strategy = strategy;
    this.capabilities = withDefaults(strategy.capabilities);
    this.resource = resource;
  }

  static async begin(subject: ConformanceSubject, tree: SampleTree = SAMPLE_TREE): Promise<Trial> {
    const session = await subject.open();
    try {
      const { strategyName } = subject;
      const strategy = await session.cofferdam.registry.resolve(strategyName);
      return new Trial(session, strategyName, strategy, await session.makeResource(tree));
    } catch (error) {
      await session[Symbol.asyncDispose]();
      throw error;
    }
  }

  get cofferdam(): Cofferdam {
    return this.session.cofferdam;
  }

  /** The strategy without the engine around it, for the single phases of a commit. */
  get unguarded(): SandboxStrategy {
    return unguarded(this.strategy);
  }

  /** Where the real resource is. */
  get location(): string {
    return this.resource.location;
  }

  /** Makes a sandbox of the resource; every plan has at most one. */
  async create(planId = PLAN, resource = this.resource): Promise<SandboxRef> {
    const ref = await this.cofferdam.create(planId, resource, { strategy: this.strategyName });
    this.#refs.push(ref);
    return ref;
  }

  /** Makes a second plan from the one of a sandbox, and gives its sandbox of the same resource. */
  async fork(ref: SandboxRef, name: string, options?: ForkOptions): Promise<SandboxRef> {
    const plan = await this.cofferdam.plan(ref.planId);
    const forked = (await plan.fork(name, options)).sandbox(ref.resourceId).ref;
    this.#refs.push(forked);
    return forked;
  }

  /** Frees a sandbox, as the rule's own step. */
  async cleanup(ref: SandboxRef): Promise<void> {
    await this.strategy.cleanup(ref);
    this.#refs.splice(this.#refs.indexOf(ref), 1);
  }

  /** The status that the engine tells. */
  status(ref: SandboxRef): Promise<SandboxStatus> {
    return this.cofferdam.status(ref);
  }

  /** The text of a file as the sandbox shows it. */
  async readText(ref: SandboxRef, path: string): Promise<string> {
    return Buffer.from(await this.strategy.read(ref, path)).toString("utf8");
  }

  /** Runs a shell script in the workspace and gives what it printed; a script that fails breaks the rule. */
  async run(ref: SandboxRef, script: string): Promise<string> {
    const args = ["-euc", `umask 022\n${script}`];
    const done = await this.#runInWorkspace(ref, "sh", args);
    return outputOf("the script", done).toString("utf8");
  }

  /** The real resource as foreign programs see it. */
  original(): Promise<Snapshot> {
    const { outside } = this.session;
    if (outside !== undefined) return outside.snapshot(this.resource);
    return snapshotOf(this.location, this.session.ownPaths);
  }

  /** Inodes and change times of the real resource, or what stands for them. */
  originalIdentities(): Promise<Snapshot> {
    const { outside } = this.session;
    if (outside !== undefined) return outside.identities(this.resource);
    return identitiesOf(this.location, this.session.ownPaths);
  }

  /** The workspace as foreign programs see it. */
  workspace(ref: SandboxRef): Promise<Snapshot> {
    return takeSnapshot(
      (program, args) => this.#runInWorkspace(ref, program, args),
      this.session.ownPaths,
    );
  }

  /** A copy of the real resource, made by `cp -a` before anything happens to it. */
  async plainCopy(): Promise<string> {
    const copy = join(await this.newFolder(), "copy");
    outputOf("cp", await runProgram("/", "cp", ["-a", "--", this.location, copy]));
    const remove = 'touch -r . ../times && rm -rf -- "$1" && touch -r ../times .';
    for (const name of this.session.ownPaths ?? [])
      outputOf("rm", await runProgram(copy, "sh", ["-c", remove, "sh", name]));
    return copy;
  }

  /** Everything the installation keeps for its sandboxes; the engine's own records and locks are left out. */
  async privateListing(): Promise<readonly string[]> {
    const listings = await Promise.all(
      this.session.privateFolders.map((folder) => this.runIn(folder, LIST_PRIVATE)),
    );
    return listings.flatMap((text) => text.split("\n")).sort();
  }

  /** Private files that hold the given text. */
  async privateFilesWith(text: string): Promise<readonly string[]> {
    // The kernel makes folders that even their owner may not read; nothing is kept in them.
    const files = "find . ! -readable -prune -o -type f -print0";
    // 123 is how xargs tells that grep found nothing.
    const script = `${files} | xargs -0 -r grep -lF -- '${text}' || [ $? -eq 123 ]`;
    const found = await Promise.all(
      this.session.privateFolders.map((folder) => this.runIn(folder, script)),
    );
    return found.flatMap((lines) => lines.split("\n")).filter((line) => line !== "");
  }

  /** Mount points below the folder of the session. */
  mounts(): readonly string[] {
    const points = readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .map((line) => line.split(" ")[4] ?? "");
    return points.filter((point) => point.startsWith(`${this.session.folder}/`));
  }

  /** A fresh folder beside the resource, outside of it. */
  async newFolder(): Promise<string> {
    const folder = join(this.session.folder, "beside");
    await mkdir(folder, { recursive: true });
    return mkdtemp(join(folder, "f-"));
  }

  /** Runs a shell script in a folder of this machine. */
  async runIn(folder: string, script: string): Promise<string> {
    const done = await runProgram(folder, "sh", ["-euc", `umask 022\n${script}`]);
    return outputOf("the script", done).toString("utf8");
  }

  /** Runs a shell script in the real resource, as somebody else would. */
  runOutside(script: string): Promise<string> {
    const { outside } = this.session;
    return outside?.run(this.resource, script) ?? this.runIn(this.location, script);
  }

  /** Of these paths, sorted, those that can be changes: of a resource that holds files alone no folders and links. */
  known(paths: Readonly<Record<string, EntryType>>): string[] {
    const isTree = this.capabilities.entries === "tree";
    return Object.entries(paths).flatMap(([path, type]) =>
      isTree || type === "file" ? [path] : [],
    );
  }

  /** Frees all sandboxes, then the installation; a rule that left one in a hopeless state fails here. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      for (const ref of this.#refs) await this.strategy.cleanup(ref, { force: true });
    } finally {
      await this.session[Symbol.asyncDispose]();
    }
  }

  async #runInWorkspace(
    ref: SandboxRef,
    program: string,
    args: readonly string[],
  ): ReturnType<typeof runProgram> {
    if (this.session.runInWorkspace !== undefined)
      return this.session.runInWorkspace(ref, program, args);
    return runProgram(await this.cofferdam.sandbox(ref).getPath(), program, args);
  }
}
