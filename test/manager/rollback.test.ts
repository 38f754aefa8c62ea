import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type MarkerWord, thrown } from "../fixtures/probe/marker.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { failureOf } from "./failure.ts";
import { edit, listing, mark, openSite, privateFolder, run, sandboxOf } from "./site.ts";

const STRATEGIES = ["probe", "two-phase", "filesystem_copy", "copy_on_write", "overlay"];
const WORDS: readonly MarkerWord[] = ["error", "string", "undefined", "sync"];

it.each(STRATEGIES)(
  "discards all edits and leaves the resource alone: %s (R10)",
  async (strategy) => {
    const site = await openSite();
    const before = takeOracle(site.data);
    const sandbox = await sandboxOf(site, strategy);
    await sandbox.rollback();
    await edit(sandbox);
    await sandbox.rollback();
    expect((await sandbox.diff()).isEmpty).toBe(true);
    expectOracleEqual(before, takeOracle(site.data));
    expect(await site.coffer.status(sandbox.ref)).toBe("ROLLED_BACK");
  },
);

it.each(STRATEGIES)("undoes a commit and resets the workspace: %s (R10, R34)", async (strategy) => {
  const site = await openSite();
  const before = takeOracle(site.data);
  const sandbox = await sandboxOf(site, strategy);
  await edit(sandbox);
  await sandbox.commit();
  await sandbox.rollback();
  expectOracleEqual(before, takeOracle(site.data));
  expect((await sandbox.diff()).isEmpty).toBe(true);
  expect(Buffer.from(await sandbox.read("b")).toString()).toBe("old b\n");
  expect(run("cat", await sandbox.getPath("a"))).toBe("old a\n");
  await sandbox.write("b", "only this\n");
  expect(await sandbox.commit()).toMatchObject({ changed: ["b"], added: [], deleted: [] });
});

it.each(STRATEGIES)(
  "goes through three whole cycles after rollbacks: %s (R14)",
  async (strategy) => {
    const site = await openSite();
    const before = takeOracle(site.data);
    const sandbox = await sandboxOf(site, strategy);
    for (let cycle = 0; cycle < 3; cycle += 1) {
      await edit(sandbox);
      expect((await sandbox.diff()).isEmpty).toBe(false);
      if (cycle === 1) await sandbox.rollback();
      else {
        await sandbox.commit();
        await sandbox.rollback();
      }
      expectOracleEqual(before, takeOracle(site.data));
    }
  },
);

it.each(STRATEGIES)("takes a commit back and keeps the edits: %s", async (strategy) => {
  const site = await openSite();
  const before = takeOracle(site.data);
  const sandbox = await sandboxOf(site, strategy);
  await edit(sandbox);
  const { digest } = await sandbox.diff();
  await sandbox.commit();
  await sandbox.undoCommit();
  expectOracleEqual(before, takeOracle(site.data));
  expect((await sandbox.diff()).digest).toBe(digest);
  expect(await site.coffer.status(sandbox.ref)).toBe("ACTIVE");
  expect(await sandbox.commit({ expect: digest })).toMatchObject({ deleted: ["b"] });
});

it("refuses to undo where the strategy cannot, and changes nothing (R10)", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "one-way");
  await edit(sandbox);
  await sandbox.commit();
  const before = [takeOracle(site.data), listing(site.stateDirectory)];
  await expect(sandbox.rollback()).rejects.toMatchObject({
    code: "SANDBOX_ROLLBACK",
    data: { reason: "notUndoable" },
  });
  expect([takeOracle(site.data), listing(site.stateDirectory)]).toEqual(before);
  expect(await sandbox.describe()).toMatchObject({ status: "COMMITTED", lastError: null });
});

it.each(["probe", "two-phase"])(
  "counts as rolled back when only the workspace could not be reset: %s (R35)",
  async (strategy) => {
    const site = await openSite();
    const before = takeOracle(site.data);
    const sandbox = await sandboxOf(site, strategy);
    await edit(sandbox);
    await sandbox.commit();
    const marker = await mark(sandbox, "rollback", "string");
    await sandbox.rollback();
    expectOracleEqual(before, takeOracle(site.data));
    expect(await sandbox.describe()).toMatchObject({
      status: "ROLLED_BACK",
      workspaceStale: true,
      lastError: { code: "SANDBOX_ROLLBACK" },
    });
    expect(site.events.map(({ name }) => name)).toContain("sandbox.workspaceStale");
    for (const call of [sandbox.getPath(), sandbox.read("a"), sandbox.write("x", "y")]) {
      await expect(call).rejects.toMatchObject({ code: "SANDBOX_ROLLBACK" });
    }
    rmSync(marker);
    expect(run("cat", await sandbox.getPath("a"))).toBe("old a\n");
    expect(await sandbox.describe()).toMatchObject({ status: "ACTIVE", workspaceStale: false });
    expect((await sandbox.diff()).isEmpty).toBe(true);
  },
);

it.each(WORDS)(
  "survives whatever is thrown while edits are discarded: %s (R20, R37)",
  async (word) => {
    const site = await openSite();
    const sandbox = await sandboxOf(site, "probe");
    await edit(sandbox);
    const before = takeOracle(site.data);
    const marker = await mark(sandbox, "rollback", word);
    const error = await failureOf(sandbox.rollback());
    expect(error).toMatchObject({ code: "SANDBOX_ROLLBACK", data: { reason: "io" } });
    expect(error.cause).toBe(thrown.last);
    expectOracleEqual(before, takeOracle(site.data));
    expect(await site.coffer.status(sandbox.ref)).toBe("ERRORED");
    rmSync(marker);
    expect(await site.coffer.recover()).toMatchObject({
      sandboxes: [{ from: "ERRORED", to: "ROLLED_BACK" }],
      complete: true,
    });
    expect((await sandbox.diff()).isEmpty).toBe(true);
  },
);

it.each(WORDS)(
  "survives whatever is thrown while a commit is undone: %s (R20, R37)",
  async (word) => {
    const site = await openSite();
    const before = takeOracle(site.data);
    const sandbox = await sandboxOf(site, "probe");
    await edit(sandbox);
    await sandbox.commit();
    const marker = await mark(sandbox, "undo", word);
    const error = await failureOf(sandbox.rollback());
    expect(error).toMatchObject({ code: "SANDBOX_ROLLBACK", data: { reason: "io" } });
    expect(error.cause).toBe(thrown.last);
    expect(await site.coffer.status(sandbox.ref)).toBe("ERRORED");
    const undo = join(privateFolder(sandbox), "undo");
    expectOracleEqual(before, takeOracle(undo));
    rmSync(marker);
    expect(await site.coffer.recover()).toMatchObject({
      sandboxes: [{ from: "ERRORED", to: "ROLLED_BACK" }],
      complete: true,
    });
    expectOracleEqual(before, takeOracle(site.data));
  },
);

it("refuses edits of a committed sandbox until it is rolled back (R15)", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "filesystem_copy");
  await sandbox.checkpoint("kept");
  await edit(sandbox);
  await sandbox.commit();
  const before = takeOracle(site.data);
  const calls = [sandbox.write("a", "x"), sandbox.getPath(), sandbox.restoreCheckpoint("kept")];
  for (const call of calls) await expect(call).rejects.toMatchObject({ code: "SANDBOX_STATE" });
  expectOracleEqual(before, takeOracle(site.data));
  await sandbox.rollback();
  await sandbox.write("a", "x");
});
