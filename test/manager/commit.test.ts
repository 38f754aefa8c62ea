import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CommitResult, Sandbox } from "../../src/index.ts";
import { type MarkerWord, ProbeError, thrown } from "../fixtures/probe/marker.ts";
import { ProbeStrategy } from "../fixtures/probe/probe-strategy.ts";
import { faultPoints } from "../support/faults.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { ACT } from "./act.ts";
import { failureOf } from "./failure.ts";
import { until } from "./until.ts";
import { edit, listing, mark, openSite, run, sandboxOf } from "./site.ts";

const THROWN: readonly [MarkerWord, unknown][] = [
  ["error", expect.any(ProbeError)],
  ["string", "commit threw text"],
  ["undefined", undefined],
  ["sync", expect.any(ProbeError)],
];

async function edited(strategy: string): Promise<{
  sandbox: Sandbox;
  site: Awaited<ReturnType<typeof openSite>>;
}> {
  const site = await openSite();
  const sandbox = await sandboxOf(site, strategy);
  await edit(sandbox);
  return { sandbox, site };
}

it("publishes changed, added and deleted paths and keeps the message in the journal (R9)", async () => {
  for (const strategy of ["probe", "two-phase", "filesystem_copy"]) {
    const { sandbox, site } = await edited(strategy);
    const message = "tidy up";
    const result = await sandbox.commit({ message });
    expect(result).toMatchObject({
      changed: ["a"],
      added: ["made", "made/new"],
      deleted: ["b"],
      noop: false,
      message,
    });
    expect(run("cat", join(site.data, "made/new"))).toBe("new file\n");
    expect(existsSync(join(site.data, "b"))).toBe(false);
    const described = await sandbox.describe();
    expect(described).toMatchObject({ status: "COMMITTED", lastResult: result, lastError: null });
    const isTwoPhase = strategy !== "probe";
    expect(await site.coffer.history()).toMatchObject(
      isTwoPhase ? [{ outcome: "committed", message, transaction: described.transaction }] : [],
    );
  }
});

describe.each(THROWN)("when a commit throws (%s)", (word, value) => {
  it("hands the thrown value on as the cause, once, and keeps the edits (R17, R20)", async () => {
    const { sandbox, site } = await edited("probe");
    const [before, digest] = [takeOracle(site.data), (await sandbox.diff()).digest];
    const marker = await mark(sandbox, "commit", word);
    const error = await failureOf(sandbox.commit());
    expect(error).toMatchObject({ code: "SANDBOX_COMMIT", data: { originalRestored: true } });
    expect(error.cause).toEqual(value);
    expect(error.cause).toBe(thrown.last);
    expectOracleEqual(before, takeOracle(site.data));
    const { status, lastError } = await sandbox.describe();
    expect([status, lastError?.code]).toEqual(["ACTIVE", "SANDBOX_COMMIT"]);
    expect((await sandbox.diff()).digest).toBe(digest);
    rmSync(marker);
    await sandbox.commit();
    expect((await sandbox.describe()).lastError).toBeNull();
  });

  it("is taken back by the strategy's own undo when it stopped half way (R17, R28)", async () => {
    const { sandbox, site } = await edited("probe");
    const before = takeOracle(site.data);
    await mark(sandbox, "commit", word, "half");
    const error = await failureOf(sandbox.commit());
    expect(error).toMatchObject({ code: "SANDBOX_COMMIT", data: { originalRestored: true } });
    expect(error.cause).toBe(thrown.last);
    expectOracleEqual(before, takeOracle(site.data));
    expect(await site.coffer.status(sandbox.ref)).toBe("ACTIVE");
  });

  it("leaves an unproven state when the strategy cannot undo (R17, R19)", async () => {
    for (const strategy of ["one-way", "silent"]) {
      const site = await openSite();
      const sandbox = await sandboxOf(site, strategy);
      await sandbox.write("a", "new a\n");
      await mark(sandbox, "commit", word, "half");
      const error = await failureOf(sandbox.commit());
      expect(error).toMatchObject({ code: "SANDBOX_COMMIT", data: { originalRestored: false } });
      expect(error.cause).toBe(thrown.last);
      expect(await site.coffer.status(sandbox.ref)).toBe("ERRORED");
    }
  });
});

it("passes an error of the family on as it is (R20)", async () => {
  const { sandbox, site } = await edited("two-phase");
  run("touch", join(site.data, "a"), join(site.data, "theirs"));
  const error = await failureOf(sandbox.commit());
  expect(error).toMatchObject({
    code: "SANDBOX_CONFLICT",
    data: { originalRestored: true, conflicts: [{ path: "theirs" }] },
    planId: "plan",
    sandboxId: sandbox.ref.sandboxId,
    strategyName: "two-phase",
  });
  expect(error.cause).toBeUndefined();
  expect(await sandbox.describe()).toMatchObject({
    status: "ACTIVE",
    lastError: { code: "SANDBOX_CONFLICT" },
    interrupted: false,
  });
});

it("treats a strategy that declares nothing as one that cannot undo (R19)", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "silent");
  await sandbox.write("a", "new");
  const { undoable } = await sandbox.commit();
  expect(undoable).toEqual({ possible: true, by: "a copy" });
  await expect(sandbox.rollback()).rejects.toMatchObject({
    code: "SANDBOX_ROLLBACK",
    data: { reason: "notUndoable" },
  });
  await expect(sandbox.getPath()).rejects.toMatchObject({ code: "UNSUPPORTED_STRATEGY" });
});

it("commits nothing without writing anything but the status (R31)", async () => {
  for (const strategy of ["two-phase", "filesystem_copy", "copy_on_write", "overlay"]) {
    const site = await openSite();
    const sandbox = await sandboxOf(site, strategy);
    const [before, state] = [takeOracle(site.data), listing(site.stateDirectory)];
    const times = run("find", site.data, "-printf", "%P %C@\\n");
    expect(await sandbox.commit()).toMatchObject({ noop: true, revision: null, changed: [] });
    expectOracleEqual(before, takeOracle(site.data));
    expect(run("find", site.data, "-printf", "%P %C@\\n")).toBe(times);
    const isStatus = (line: string): boolean => line.startsWith("plans/");
    expect(listing(site.stateDirectory).filter((line) => !isStatus(line))).toEqual(
      state.filter((line) => !isStatus(line)),
    );
    expect(await site.coffer.history()).toEqual([]);
  }
});

it.each(["filesystem_copy", "copy_on_write", "overlay"])(
  "makes no call that changes anything but the status when there is nothing to commit: %s (R242)",
  async (strategy) => {
    const site = await openSite();
    const sandbox = await sandboxOf(site, strategy);
    const { stateDirectory, data } = site;
    const orders = { options: { stateDirectory }, ref: sandbox.ref, calls: [["commit"]] };
    const places = [join(stateDirectory, "area"), join(stateDirectory, "tx"), data];
    const touching = [...places, join(stateDirectory, "plans")];
    const points = await faultPoints({ program: ACT, args: [JSON.stringify(orders)], touching });
    // Whether such a call opens for writing cannot be seen from outside; what it would leave is looked for above.
    const changing = points.filter(({ call }) => call !== "openat2");
    const paths = changing.flatMap((point) => point.paths);
    expect(paths.filter((path) => places.some((place) => path.startsWith(place)))).toEqual([]);
    expect(paths).not.toEqual([]);
    expect(await site.coffer.status(sandbox.ref)).toBe("COMMITTED");
  },
);

it("takes an empty commit back without calling the strategy (R31)", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "two-phase");
  await sandbox.commit();
  for (const step of ["undo", "prepare", "rollback"]) await mark(sandbox, step, "error");
  await sandbox.rollback();
  expect(await sandbox.describe()).toMatchObject({ status: "ROLLED_BACK", workspaceStale: false });
});

it("gives up before the decision when the caller does (R30)", async () => {
  const { sandbox, site } = await edited("two-phase");
  const before = takeOracle(site.data);
  const marker = await mark(sandbox, "prepare", "wait");
  const controller = new AbortController();
  const commit = failureOf(sandbox.commit({ signal: controller.signal }));
  const reason = new Error("changed my mind");
  await until(() =>
    readdirSync(join(site.stateDirectory, "tx")).some((name) => !name.startsWith(".")),
  );
  controller.abort(reason);
  rmSync(marker);
  expect(await commit).toMatchObject({
    data: { originalRestored: true, reason: "aborted" },
    cause: reason,
  });
  expectOracleEqual(before, takeOracle(site.data));
  expect(await site.coffer.status(sandbox.ref)).toBe("ACTIVE");
  await expect(sandbox.commit({ signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: "OPERATION_TIMEOUT",
  });
});

it("leaves a commit to recovery when its own undo fails as well (R262)", async () => {
  const { sandbox, site } = await edited("probe");
  const before = takeOracle(site.data);
  const markers = [
    await mark(sandbox, "commit", "error", "half"),
    await mark(sandbox, "undo", "error"),
  ];
  expect(await failureOf(sandbox.commit())).toMatchObject({
    code: "SANDBOX_COMMIT",
    data: { originalRestored: false },
  });
  expect(site.events.map(({ name }) => name)).toContain("sandbox.undoFailed");
  expect(await site.coffer.status(sandbox.ref)).toBe("ERRORED");
  for (const marker of markers) rmSync(marker);
  expect(await site.coffer.recover()).toMatchObject({ complete: true });
  expectOracleEqual(before, takeOracle(site.data));
  expect(await sandbox.commit()).toMatchObject({ deleted: ["b"] });
});

it("keeps a commit of which its strategy tells nothing that could be recorded, and says so (R262)", async () => {
  const site = await openSite();
  class Unrecordable extends ProbeStrategy {
    override async commit(...call: Parameters<ProbeStrategy["commit"]>): Promise<CommitResult> {
      const metadata = { bytes: 1n } as unknown as CommitResult["metadata"];
      return { ...(await super.commit(...call)), metadata };
    }
  }
  await site.coffer.registry.register("unrecordable", Unrecordable);
  const sandbox = await sandboxOf(site, "unrecordable");
  await edit(sandbox);
  const result = await sandbox.commit();
  expect(result).toMatchObject({ success: true, noop: false, changed: [], metadata: {} });
  expect(result.warnings).toHaveLength(1);
  expect(run("cat", join(site.data, "a"))).toBe("new a\n");
  expect(await sandbox.describe()).toMatchObject({ status: "COMMITTED", lastResult: result });
});
