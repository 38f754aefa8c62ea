import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  PathEscapeError,
  SandboxCommitError,
  SandboxConflictError,
  SandboxPathError,
  SandboxRollbackError,
  changeOf,
  commitResultOf,
  createDiffView,
  isSameState,
} from "cofferdam";
import type {
  Change,
  CommitOptions,
  CommitResult,
  DiffView,
  EntryState,
  PathInput,
  Resource,
  SandboxRef,
  SandboxStrategy,
  StrategyHost,
} from "cofferdam";
import { pack, unpack } from "./archive.ts";
import { type Tree, compare, isOutward, readTree, stateOf, withBits } from "./tree.ts";

const UNTOUCHED = { originalRestored: true, undoDataAt: null, appliedCount: 0 } as const;

/** Sandboxes for directories, made of tar archives. */
export class TarSnapshotStrategy implements SandboxStrategy {
  readonly capabilities = {
    isolation: "full",
    undoCommit: true,
    path: true,
    checkpoints: "emulated",
  } as const;
  readonly #host: StrategyHost;

  constructor(host: StrategyHost) {
    this.#host = host;
  }

  async create(planId: string, resource: Resource): Promise<SandboxRef> {
    const area = await this.#host.areaFor(resource.location);
    const folder = join(area.path, `tar-${this.#host.ids.next()}`);
    await mkdir(folder, { mode: 0o700 });
    try {
      const ref = this.#host.newRef(planId, resource, { folder });
      await this.#reset(ref, resource.location);
      return ref;
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  async read(ref: SandboxRef, path: PathInput): Promise<Uint8Array> {
    const { file, state } = await this.#find(ref, path);
    if (state?.type === "file") return readFile(file);
    throw pathError(String(path), state?.type ?? "missing");
  }

  async write(ref: SandboxRef, path: PathInput, content: Uint8Array | string): Promise<Change> {
    const { file, name, state } = await this.#find(ref, path);
    if (state !== null && state.type !== "file") throw pathError(name, state.type);
    const at = this.#host.clock.now().toISOString();
    const base = (await this.#base(ref)).get(name);
    if (state !== null && (await readFile(file)).equals(Buffer.from(content))) {
      return { path: name, kind: "unchanged", before: state, after: state, at };
    }
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    const written = await stateOf(file);
    return { ...changeOf(name, base ?? null, written && withBits(base, written)), at };
  }

  async diff(ref: SandboxRef): Promise<DiffView> {
    const { location } = await this.#host.resourceOf(ref);
    return createDiffView({
      sandboxId: ref.sandboxId,
      base: ref.baseFingerprintId,
      changes: compare(await this.#base(ref), await readTree(inside(ref, "work"))),
      readBefore: ({ path, before }) =>
        stateOf(join(location, path)).then((real) =>
          real?.hash === before?.hash ? readFile(join(location, path)) : null,
        ),
      readAfter: ({ path }) => readFile(join(inside(ref, "work"), path)),
    });
  }

  async commit(ref: SandboxRef, { policy, message }: CommitOptions = {}): Promise<CommitResult> {
    const { location } = await this.#host.resourceOf(ref);
    const { changes } = await this.diff(ref);
    for (const { path, before, after } of changes) {
      const isNewLink = after?.target != null && after.target !== before?.target;
      const isRefused = policy?.outwardLinks !== "allow" && isNewLink;
      const bits = (after?.mode ?? 0) & 0o7000 & ~(before?.mode ?? 0);
      if (!(isRefused && isOutward(path, after.target)) && (bits === 0 || policy?.specialBits))
        continue;
      const data = { ...UNTOUCHED, failedPath: path };
      throw new SandboxCommitError(`${path} needs permission to be published`, { data });
    }
    await refuseConflicts(location, changes);
    if (changes.length > 0) await this.#publish(ref, location, changes);
    const undoable = { possible: true, by: "an archive of what was replaced" };
    return commitResultOf(ref, changes, { at: this.#host.clock.now(), message, undoable });
  }

  /** May be called again after a crash: what is as before already counts as undone. */
  async undoCommit(ref: SandboxRef): Promise<void> {
    const { location } = await this.#host.resourceOf(ref);
    const changes = await this.#json<readonly Change[]>(ref, "undo.json");
    if (changes === null) return;
    const present = await Promise.all(changes.map(({ path }) => stateOf(join(location, path))));
    const foreign = changes.filter(
      ({ before, after }, at) =>
        !isSameState(present[at] ?? null, after) && !isSameState(present[at] ?? null, before),
    );
    if (foreign.length > 0) {
      const paths = foreign.map(({ path }) => path);
      throw new SandboxRollbackError(`Changed since the commit: ${paths.join(", ")}`, {
        data: {
          reason: "foreignEdits",
          originalRestored: false,
          undoDataAt: inside(ref, "undo.tar"),
          asideAt: null,
          paths,
        },
      });
    }
    await removeAll(location, changes);
    await unpack(this.#host, inside(ref, "undo.tar"), location);
    await rm(inside(ref, "undo.json"));
  }

  async rollback(ref: SandboxRef): Promise<void> {
    await this.#reset(ref, (await this.#host.resourceOf(ref)).location);
  }

  async checkpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    const work = inside(ref, "work");
    const paths = ["", ...(await readTree(work)).keys()];
    await pack(this.#host, work, paths, inside(ref, `${checkpointId}.tar`), "exact");
  }

  async restoreCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    await this.#unpackWork(ref, inside(ref, `${checkpointId}.tar`));
  }

  async cleanup(ref: SandboxRef): Promise<void> {
    await rm(inside(ref, "."), { recursive: true, force: true });
  }

  async getPath(ref: SandboxRef, path: PathInput = ""): Promise<string> {
    return (await this.#find(ref, path)).file;
  }

  /** What is replaced is kept first; then children go before parents, and the rest comes out of an archive. */
  async #publish(ref: SandboxRef, location: string, changes: readonly Change[]): Promise<void> {
    const work = inside(ref, "work");
    const touched = withFolders(changes);
    await pack(
      this.#host,
      location,
      await existing(location, touched),
      inside(ref, "undo.tar"),
      "exact",
    );
    await writeFile(inside(ref, "undo.json"), JSON.stringify(changes));
    await pack(this.#host, work, await existing(work, touched), inside(ref, "new.tar"), "exact");
    await removeAll(location, changes);
    await unpack(this.#host, inside(ref, "new.tar"), location);
  }

  async #reset(ref: SandboxRef, location: string): Promise<void> {
    const tree = await readTree(location);
    await pack(this.#host, location, ["", ...tree.keys()], inside(ref, "base.tar"));
    await this.#unpackWork(ref, inside(ref, "base.tar"));
    await writeFile(inside(ref, "base.json"), JSON.stringify([...tree]));
    await rm(inside(ref, "base.tar"));
  }

  async #unpackWork(ref: SandboxRef, archive: string): Promise<void> {
    await rm(inside(ref, "work"), { recursive: true, force: true });
    await mkdir(inside(ref, "work"));
    await unpack(this.#host, archive, inside(ref, "work"));
  }

  async #base(ref: SandboxRef): Promise<Tree> {
    return new Map(await this.#json<[string, EntryState][]>(ref, "base.json"));
  }

  async #json<T>(ref: SandboxRef, name: string): Promise<T | null> {
    const text = await readFile(inside(ref, name), "utf8").catch(() => null);
    return text === null ? null : (JSON.parse(text) as T);
  }

  /** The engine has refused absolute paths and ways up; links on the way are this strategy's affair. */
  async #find(
    ref: SandboxRef,
    path: PathInput,
  ): Promise<{ file: string; name: string; state: EntryState | null }> {
    const name = Buffer.from(path).toString();
    const root = inside(ref, "work");
    for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1)) {
      const state = await stateOf(join(root, name.slice(0, at)));
      if (state?.type !== "symlink") continue;
      const data = { requested: name, root };
      throw new PathEscapeError(`${name} leads over a link`, { data });
    }
    return { file: join(root, name), name, state: await stateOf(join(root, name)) };
  }
}

function inside(ref: SandboxRef, name: string): string {
  return join(ref.metadata["folder"] as string, name);
}

/** The changed paths and the folders that they stand in, whose times change with them. */
function withFolders(changes: readonly Change[]): string[] {
  const folders = changes
    .map(({ path }) => dirname(path))
    .map((path) => (path === "." ? "" : path));
  return [...new Set([...folders, ...changes.map(({ path }) => path)])].sort();
}

async function existing(root: string, paths: readonly string[]): Promise<string[]> {
  const states = await Promise.all(paths.map((path) => stateOf(join(root, path))));
  return paths.filter((_, at) => states[at] !== null);
}

/** Makes room for what comes out of an archive; entries with new content are replaced by it. */
async function removeAll(location: string, changes: readonly Change[]): Promise<void> {
  const gone = changes.filter(({ kind }) => ["added", "deleted", "typeChanged"].includes(kind));
  const paths = gone.map(({ path }) => path).toReversed();
  for (const path of paths) {
    const [file] = await existing(location, [path]);
    if (file !== undefined) await rm(join(location, file), { recursive: true });
  }
}

async function refuseConflicts(location: string, changes: readonly Change[]): Promise<void> {
  const conflicts = [];
  for (const { path, before, after } of changes) {
    const theirs = await stateOf(join(location, path));
    if (isSameState(before, theirs)) continue;
    const reason = before === null ? "exists" : theirs === null ? "missing" : "changed";
    conflicts.push({ path, reason, base: before, theirs, ours: after });
  }
  if (conflicts.length === 0) return;
  const data = { ...UNTOUCHED, failedPath: conflicts[0]?.path ?? null, conflicts };
  throw new SandboxConflictError("Changed by somebody else", { data });
}

function pathError(path: string, found: EntryState["type"] | "missing"): SandboxPathError {
  const reason = found === "file" ? "exists" : found;
  return new SandboxPathError(`${path} cannot be used: ${found}`, { data: { path, reason } });
}
