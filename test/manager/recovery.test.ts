import { lstatSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Sandbox, SandboxStatus } from "../../src/index.ts";
import type { MarkerWord } from "../fixtures/probe/marker.ts";
import { expectOracleEqual, takeOracle, type Oracle } from "../support/oracle.ts";
import { act, actUntilEnd, startActing } from "./act.ts";
import {
  edit,
  listing,
  mark,
  openSite,
  privateFolder,
  reopenSite,
  run,
  sandboxOf,
  type Site,
} from "./site.ts";
import { until } from "./until.ts";

interface Crash {
  readonly strategy: string;
  /** What was done before. */
  readonly committed: boolean;
  readonly method: "commit" | "rollback" | "undoCommit" | "restoreCheckpoint";
  /** Steps that misbehave; the last one kills the process. */
  readonly markers: readonly (readonly [step: string, ...words: MarkerWord[]])[];
  /** What recovery makes of it. */
  readonly status: SandboxStatus;
  readonly resource: "old" | "new";
  /** Whether everything was recorded before the process was killed. */
  readonly isRecorded?: boolean;
}

const KILL = ["once", "kill"] as const;
const HALF = ["once", "half", "kill"] as const;

const CRASHES: readonly Crash[] = [
  ...twoPhase("commit", false, [
    ["prepare", KILL, "ACTIVE", "old"],
    ["prepare", HALF, "ACTIVE", "old"],
    ["fence", KILL, "ACTIVE", "old"],
    ["apply", KILL, "COMMITTED", "new"],
    ["apply", HALF, "COMMITTED", "new"],
    ["forget", KILL, "COMMITTED", "new"],
  ]),
  // The sandbox is recorded with the outcome: nothing is left to be done.
  { ...one("two-phase", "commit", "after", KILL, "COMMITTED", "new"), isRecorded: true },
  ...twoPhase("rollback", true, [
    ["undo", KILL, "COMMITTED", "new"],
    ["prepare", KILL, "COMMITTED", "new"],
    ["fence", KILL, "COMMITTED", "new"],
    ["apply", HALF, "ROLLED_BACK", "old"],
    ["forget", KILL, "ROLLED_BACK", "old"],
    ["after", KILL, "ROLLED_BACK", "old"],
    ["rollback", KILL, "ROLLED_BACK", "old"],
  ]),
  ...twoPhase("undoCommit", true, [
    ["prepare", KILL, "COMMITTED", "new"],
    ["apply", HALF, "ACTIVE", "old"],
    ["after", KILL, "ACTIVE", "old"],
  ]),
  ...twoPhase("rollback", false, [["rollback", KILL, "ROLLED_BACK", "old"]]),
  ...(["reverse", "abandon"] as const).map((step) => ({
    strategy: "two-phase",
    committed: false,
    method: "commit" as const,
    markers: [
      ["apply", "error"],
      [step, ...KILL],
    ] as const,
    status: "ACTIVE" as const,
    resource: "old" as const,
  })),
  one("probe", "commit", "commit", HALF, "ACTIVE", "old"),
  one("telling", "commit", "commit", KILL, "ACTIVE", "old"),
  one("telling", "commit", "published", KILL, "COMMITTED", "new"),
  { ...one("probe", "undoCommit", "undo", KILL, "ACTIVE", "old"), committed: true },
  { ...one("probe", "rollback", "rollback", KILL, "ROLLED_BACK", "old"), committed: true },
];

function twoPhase(
  method: Crash["method"],
  committed: boolean,
  rows: readonly (readonly [string, readonly MarkerWord[], SandboxStatus, "old" | "new"])[],
): Crash[] {
  return rows.map(([step, words, status, resource]) => ({
    ...one("two-phase", method, step, words, status, resource),
    committed,
  }));
}

function one(
  strategy: string,
  method: Crash["method"],
  step: string,
  words: readonly MarkerWord[],
  status: SandboxStatus,
  resource: "old" | "new",
): Crash {
  return { strategy, committed: false, method, markers: [[step, ...words]], status, resource };
}

function nameOf({ strategy, committed, method, markers }: Crash): string {
  const where = markers.map((marker) => marker.join(" ")).join(", then ");
  return `${strategy}: ${committed ? "commit, " : ""}${method}, ${where}`;
}

interface Scene {
  readonly site: Site;
  readonly sandbox: Sandbox;
  readonly old: Oracle;
  readonly latest: Oracle;
}

/** Runs up to the crash, in a process that is killed in the middle of the call. */
async function crash(row: Crash): Promise<Scene> {
  const site = await openSite();
  const sandbox = await sandboxOf(site, row.strategy);
  await edit(sandbox);
  const old = takeOracle(site.data);
  const latest = takeOracle(join(privateFolder(sandbox), "workspace"));
  if (row.committed) await sandbox.commit();
  for (const [step, ...words] of row.markers) await mark(sandbox, step, ...words);
  const { stateDirectory } = site;
  const ended = await actUntilEnd({
    options: { stateDirectory },
    ref: sandbox.ref,
    calls: [[row.method]],
  });
  expect(ended.signal).toBe("SIGKILL");
  for (const [step] of row.markers) {
    const folder = privateFolder(sandbox);
    rmSync(join(folder, "workspace", `.probe-${step}`), { force: true });
  }
  return { site, sandbox, old, latest };
}

describe("a process killed in the middle", () => {
  it.each(CRASHES.map((row) => [nameOf(row), row] as const))(
    "is finished or taken back by the next one: %s (R17)",
    async (_name, row) => {
      const { site, sandbox, old, latest } = await crash(row);
      const { stateDirectory } = site;
      const answers = await act({
        options: { stateDirectory },
        ref: sandbox.ref,
        calls: [["describe"]],
      });
      const complete: unknown = expect.objectContaining({ complete: true });
      expect(answers.recovery).toEqual(row.isRecorded === true ? null : complete);
      expect(answers.results).toMatchObject([
        { status: row.status, interrupted: false, lastError: null },
      ]);
      // Which folder times a commit leaves is the strategy's affair; an undo gives them all back.
      const ignore = row.resource === "new" ? (["directoryMtimes"] as const) : [];
      expectOracleEqual(row.resource === "new" ? latest : old, takeOracle(site.data), { ignore });
      expect(readdirSync(join(stateDirectory, "tx"))).toEqual([]);
      const settled = listing(stateDirectory);
      expect(
        (await act({ options: { stateDirectory }, calls: [["recover"]] })).results,
      ).toMatchObject([{ complete: true, transactions: [], sandboxes: [] }]);
      expect(listing(stateDirectory)).toEqual(settled);
      await sandbox.cleanup();
      expect(readdirSync(join(stateDirectory, "area"))).toEqual([]);
    },
  );
});

it("says so when it cannot be known whether a commit happened (R17)", async () => {
  const row = one("one-way", "commit", "commit", HALF, "ERRORED", "new");
  const { site, sandbox } = await crash(row);
  expect(await site.coffer.recover()).toMatchObject({
    complete: false,
    sandboxes: [{ from: "COMMITTING", to: "ERRORED" }],
  });
  expect(await site.coffer.status(sandbox.ref)).toBe("ERRORED");
});

it("goes on after the recovery as if nothing had happened", async () => {
  const { site, sandbox, old } = await crash(
    one("two-phase", "commit", "fence", KILL, "ACTIVE", "old"),
  );
  await site.coffer.recover();
  expect(await sandbox.commit()).toMatchObject({ added: ["made", "made/new"], deleted: ["b"] });
  await sandbox.rollback();
  expectOracleEqual(old, takeOracle(site.data));
});

it("only tells of interrupted work when it is asked to, and refuses to go on with it (R226)", async () => {
  const { site, sandbox } = await crash(
    one("two-phase", "commit", "apply", HALF, "COMMITTED", "new"),
  );
  const before = [takeOracle(site.data), listing(site.stateDirectory)];
  const { coffer, events } = await reopenSite(site, { recover: "report" });
  expect(coffer.opening).toMatchObject({
    recovery: null,
    interrupted: { sandboxes: [{ ref: sandbox.ref, status: "COMMITTING" }] },
  });
  expect(coffer.opening.interrupted.transactions).toHaveLength(1);
  expect(events.map(({ name }) => name)).toEqual(["work.interrupted"]);
  await expect(coffer.sandbox(sandbox.ref).commit()).rejects.toMatchObject({
    code: "SANDBOX_STATE",
  });
  expect([takeOracle(site.data), listing(site.stateDirectory)]).toEqual(before);
  await coffer.recover();
  expect(await coffer.status(sandbox.ref)).toBe("COMMITTED");
});

it("leaves work alone whose owner is alive (R224)", async () => {
  const site = await openSite({ limits: { lockTimeoutMs: 200 } });
  const sandbox = await sandboxOf(site, "two-phase");
  await edit(sandbox);
  const marker = await mark(sandbox, "apply", "half", "wait");
  const { stateDirectory } = site;
  const owner = await startActing({
    options: { stateDirectory },
    ref: sandbox.ref,
    calls: [["commit"]],
  });
  // The rights of a copied file are the last of it.
  const made = join(site.data, "made/new");
  await until(() => (lstatSync(made, { throwIfNoEntry: false })?.mode ?? 0) % 0o1000 === 0o644);
  const before = [takeOracle(site.data), listing(stateDirectory)];
  const patient = await reopenSite(site);
  expect(patient.coffer.opening.recovery).toMatchObject({
    transactions: [{ outcome: "busy" }],
    sandboxes: [],
  });
  await expect(sandbox.commit()).rejects.toMatchObject({
    code: "PLAN_BUSY",
    data: { holder: { pid: owner.process.pid } },
  });
  expect([takeOracle(site.data), listing(stateDirectory)]).toEqual(before);
  rmSync(marker);
  expect((await owner.result).code).toBe(0);
  expect(await site.coffer.status(sandbox.ref)).toBe("COMMITTED");
});

it("does not touch a plan whose record is damaged, and recovers the others (R221)", async () => {
  const { site, sandbox } = await crash(
    one("two-phase", "commit", "apply", HALF, "COMMITTED", "new"),
  );
  const other = await site.coffer.create("other", join(site.data, "sub"), { strategy: "probe" });
  const file = run(
    "find",
    join(site.stateDirectory, "plans"),
    "-name",
    `${other.sandboxId}.json`,
  ).trim();
  writeFileSync(file, "{}");
  const { coffer } = await reopenSite(site);
  expect(coffer.opening.recovery).toMatchObject({
    complete: false,
    damaged: [{ code: "RECORD_DAMAGED", data: { file } }],
    sandboxes: [{ to: "COMMITTED" }],
  });
  await expect(coffer.list("other")).rejects.toMatchObject({ code: "RECORD_DAMAGED" });
  await expect(coffer.sandbox(other).read("c")).rejects.toMatchObject({ code: "RECORD_DAMAGED" });
  expect(await coffer.list("plan")).toMatchObject([{ status: "COMMITTED" }]);
  expect(await coffer.list()).toHaveLength(1);
  await coffer.sandbox(sandbox.ref).rollback();
});

it("settles interrupted work before it cleans up (R11)", async () => {
  const { site, sandbox, latest } = await crash(
    one("two-phase", "commit", "apply", HALF, "COMMITTED", "new"),
  );
  await sandbox.cleanup();
  expectOracleEqual(latest, takeOracle(site.data), { ignore: ["directoryMtimes"] });
  expect(readdirSync(join(site.stateDirectory, "tx"))).toEqual([]);
  expect(readdirSync(join(site.stateDirectory, "area"))).toEqual([]);
  expect(await site.coffer.list()).toEqual([]);
});

it("waits for a strategy that is not registered yet, and harms nothing", async () => {
  const { site, sandbox } = await crash(
    one("two-phase", "commit", "apply", HALF, "COMMITTED", "new"),
  );
  const before = [takeOracle(site.data), listing(site.stateDirectory)];
  const { coffer } = await reopenSite(site, { strategies: {} });
  expect(coffer.opening.recovery).toMatchObject({
    complete: false,
    transactions: [{ outcome: "failed", error: { code: "STRATEGY_NOT_FOUND" } }],
  });
  expect([takeOracle(site.data), listing(site.stateDirectory)]).toEqual(before);
  await reopenSite(site);
  expect(await site.coffer.status(sandbox.ref)).toBe("COMMITTED");
});

it("lets go of a sandbox by force whose transaction has a damaged record (R159, R221)", async () => {
  const { site, sandbox } = await crash(
    one("two-phase", "commit", "prepare", HALF, "ACTIVE", "old"),
  );
  const file = run("find", join(site.stateDirectory, "tx"), "-name", "intent.json").trim();
  writeFileSync(file, "garbage");
  const { coffer } = await reopenSite(site);
  const left = coffer.sandbox(sandbox.ref);
  await left.cleanup({ force: true });
  expect(await coffer.list()).toEqual([]);
  expect(run("find", join(site.stateDirectory, "tx"), "-name", "intent.json")).toBe("");
  expect((await coffer.recover()).complete).toBe(true);
});
