import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import {
  type Cofferdam,
  type CommandRequest,
  type Plan,
  type PlanResource,
  type PlanRunOptions,
  type PlanRunResult,
  type SandboxEvent,
  UnsupportedStrategyError,
  openCofferdam,
} from "../../src/index.ts";
import { FolderSurroundings } from "../fixtures/surroundings/folder-strategy.ts";
import { startChild } from "../support/child.ts";
import { tempFolder } from "../support/temp.ts";

const QUIET = { stdio: ["ignore", "ignore", "ignore"] } as const;
const STEP_MS = 20;
/** Where the place of a worktree inside the second resource is kept. */
const INNER = "/run/cofferdam/git-1/worktrees/inner/gitdir";

/** A folder with some resources, one of which runs the commands of its plan in surroundings. */
class Bench {
  readonly folder = tempFolder();
  readonly real = this.#place("real");
  readonly state = join(this.folder, "state");
  readonly events: SandboxEvent[] = [];

  open(): Promise<Cofferdam> {
    return openCofferdam({
      stateDirectory: this.state,
      config: false,
      strategies: { surroundings: FolderSurroundings },
      onEvent: (event) => void this.events.push(event),
    });
  }

  plan(coffer: Cofferdam, ...more: readonly PlanResource[]): Promise<Plan> {
    const own = { id: "real", type: "fs-directory", location: this.real };
    return coffer.plan("plan", [...more, { ...own, sandboxStrategy: "surroundings" }]);
  }

  /** Runs a script, in the folder of the resource. */
  run(plan: Plan, script: string, options: PlanRunOptions = {}): Promise<PlanRunResult> {
    return plan.run(["sh", "-ec", script], { cwd: this.real, ...QUIET, ...options });
  }

  /** What the strategy was told, which a command of the plan has copied. */
  async request(plan: Plan, options?: PlanRunOptions): Promise<CommandRequest> {
    await this.run(plan, 'cp "$LEFT/request" request', options);
    const text = Buffer.from(await plan.sandbox("real").read("request")).toString();
    return JSON.parse(text) as CommandRequest;
  }

  ended(): number {
    return this.events.filter(({ name }) => name === "surroundings.ended").length;
  }

  #place(name: string): string {
    const path = join(this.folder, name);
    mkdirSync(path);
    writeFileSync(join(path, "page"), "old\n");
    return path;
  }
}

/** Whether there is a process with exactly this command line. */
function isRunning(line: string): boolean {
  return execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n").includes(line);
}

test("a command runs as the strategy starts it, and what it leaves there is told", async () => {
  const bench = new Bench();
  await using coffer = await bench.open();
  const plan = await bench.plan(coffer);
  const script = 'echo "$COFFERDAM_PLAN" > page; touch "$LEFT/tool"; exit 6';
  expect(await bench.run(plan, script)).toEqual({
    exitCode: 6,
    fixed: [],
    unchangeable: [],
    enclosed: { isEnclosed: true },
    outside: null,
    unreached: [],
    surroundings: ["tool"],
  });
  expect(Buffer.from(await plan.sandbox("real").read("page")).toString()).toBe("plan\n");
  expect(bench.ended()).toBe(1);
  await plan.cleanup();
});

test("the strategy is told the command, the network, and every folder of the plan at its real path", async () => {
  const bench = new Bench();
  execFileSync(
    "sh",
    [
      "-euc",
      `mkdir other git; cd git; git init -qb main; git config user.name T
       git config user.email t@example.invalid; echo 1 > page; git add -A; git commit -qm first
       git worktree add -q inner`,
    ],
    { cwd: bench.folder },
  );
  await using coffer = await bench.open();
  const [other = "", git = ""] = ["other", "git"].map((name) => join(bench.folder, name));
  const plan = await bench.plan(
    coffer,
    { id: "other", type: "fs-directory", location: other },
    { id: "git", type: "git-repository", location: git },
  );
  const request = await bench.request(plan, { network: false, env: { PATH: process.env["PATH"] } });
  expect(request).toMatchObject({
    argv: ["sh", "-ec", 'cp "$LEFT/request" request'],
    cwd: bench.real,
    environment: { PATH: process.env["PATH"] },
    planEnvironment: { COFFERDAM_PLAN: "plan" },
    terminal: false,
    network: false,
  });
  expect(request.folders.map(({ location }) => location).toSorted()).toEqual(
    ["/run/cofferdam/git-1", INNER, git, join(git, ".git"), other, bench.real].toSorted(),
  );
  const [repository, inner] = request.folders.filter(({ location }) => location.startsWith("/run"));
  expect(repository?.workspace).toBe(join(git, ".git"));
  // Else git would take the worktree for gone, which the surroundings do not have.
  expect(inner?.location).toBe(INNER);
  await plan.cleanup();
});

test("a database cannot be reached there, which is told before the command starts", async () => {
  const bench = new Bench();
  execFileSync("sqlite3", [join(bench.folder, "rows.db"), "CREATE TABLE t (a)"]);
  await using coffer = await bench.open();
  const plan = await bench.plan(coffer, {
    id: "rows",
    type: "database",
    location: `sqlite:${join(bench.folder, "rows.db")}`,
  });
  const told: (readonly string[])[] = [];
  const { unreached } = await bench.run(plan, "true", { onUnreached: (ids) => told.push(ids) });
  expect(unreached).toHaveLength(1);
  expect(told).toEqual([unreached]);
  await plan.cleanup();
});

test("two sandboxes that would both enclose a command are refused before it starts", async () => {
  const bench = new Bench();
  mkdirSync(join(bench.folder, "second"));
  await using coffer = await bench.open();
  const plan = await bench.plan(coffer, {
    id: "second",
    type: "fs-directory",
    location: join(bench.folder, "second"),
    sandboxStrategy: "surroundings",
  });
  await expect(bench.run(plan, "true")).rejects.toBeInstanceOf(UnsupportedStrategyError);
  expect(bench.ended()).toBe(0);
  await plan.cleanup();
});

test("surroundings that could not be made are ended by the next call", async () => {
  const bench = new Bench();
  await using coffer = await bench.open();
  const plan = await bench.plan(coffer);
  await expect(plan.run(["fail"], { cwd: bench.real })).rejects.toMatchObject({
    code: "SANDBOX_PATH",
  });
  expect(bench.ended()).toBe(0);
  await plan.diff();
  expect(bench.ended()).toBe(1);
  expect(await bench.run(plan, "true")).toMatchObject({ exitCode: 0, surroundings: [] });
  await plan.cleanup();
});

test("a command whose owner was killed is ended by the next call, and what it left is taken", async () => {
  const bench = new Bench();
  const program = new URL("programs/run-surrounded.ts", import.meta.url);
  const script = 'echo half > page; touch "$LEFT/tool"; exec sleep 7654';
  const child = await startChild(program, [bench.state, bench.real, script]);
  while (!isRunning("sleep 7654")) await pause(STEP_MS);
  const ended = once(child.process, "exit");
  child.process.kill("SIGKILL");
  await ended;
  expect(isRunning("sleep 7654")).toBe(true);
  await using coffer = await bench.open();
  const plan = await bench.plan(coffer);
  expect((await plan.diff()).resources["real"]?.changes.map(({ path }) => path)).toEqual(["page"]);
  expect(isRunning("sleep 7654")).toBe(false);
  expect(bench.events).toContainEqual(
    expect.objectContaining({
      name: "surroundings.ended",
      data: expect.objectContaining({ changed: ["tool"] }) as unknown,
    }),
  );
  await plan.cleanup();
});
