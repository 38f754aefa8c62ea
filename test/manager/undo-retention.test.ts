import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FilesystemCopyStrategy } from "../../src/index.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { edit, openSite, plantData, reopenSite, run, sandboxOf, type Site } from "./site.ts";
import { openPlanSite } from "./plan/plan-site.ts";

const DAY = 24 * 60 * 60_000;
const STRATEGIES = ["overlay", "copy_on_write", "filesystem_copy"];

const later = (days: number): { clock: { now: () => Date } } => ({
  clock: { now: () => new Date(Date.now() + days * DAY) },
});

/** A configuration with these undo settings, for the given site. */
function configured({ data }: Pick<Site, "data">, text: string): { config: string } {
  const config = join(data, "..", "cofferdam.yaml");
  writeFileSync(config, `undo:\n${text}\n`);
  return { config };
}

describe.each(STRATEGIES)("the undo data of %s", (strategy) => {
  it("is where the description says, as much as it says", async () => {
    const site = await openSite();
    writeFileSync(join(site.data, "b"), "x".repeat(5000));
    const sandbox = await sandboxOf(site, strategy);
    await edit(sandbox);
    await sandbox.commit();
    const { undoable } = await sandbox.describe();
    expect(undoable).toMatchObject({
      possible: true,
      bytes: "old a\n".length + 5000,
      device: run("stat", "-c", "%d", site.stateDirectory).trim(),
    });
    const at = undoable.path ?? "";
    expect(run("grep", "-rlx", "old a", at).trim()).not.toBe("");
    expect(run("find", at, "-type", "f", "-size", "5000c").trim()).not.toBe("");
  });

  it("is given up at once with a retention of nothing, and the undo refused (R149)", async () => {
    const first = await openSite();
    await first.coffer.close();
    const site = await reopenSite(first, configured(first, "  retention_days: 0"));
    const sandbox = await sandboxOf(site, strategy);
    await edit(sandbox);
    const { undoable } = await sandbox.commit();
    expect(existsSync(undoable.path ?? "")).toBe(false);
    const published = takeOracle(site.data);
    for (const undo of [() => sandbox.rollback(), () => sandbox.undoCommit()]) {
      await expect(undo()).rejects.toMatchObject({
        code: "SANDBOX_ROLLBACK",
        data: { reason: "undoDataMissing" },
      });
    }
    expect(await sandbox.previewUndo()).toMatchObject({ possible: false });
    expect(await sandbox.describe()).toMatchObject({
      status: "COMMITTED",
      undoable: { possible: false },
    });
    expectOracleEqual(published, takeOracle(site.data));
    await sandbox.cleanup();
    expectOracleEqual(published, takeOracle(site.data));
    expect(readdirSync(join(site.stateDirectory, "plans"))).toEqual([]);
  });
});

it("stays for two weeks, and goes when somebody opens the installation later", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "overlay");
  await edit(sandbox);
  const { undoable } = await sandbox.commit();
  await site.coffer.close();
  const before = await reopenSite(site, later(13.9));
  expect(existsSync(undoable.path ?? "")).toBe(true);
  expect(await before.coffer.history()).toHaveLength(1);
  await before.coffer.close();
  const after = await reopenSite(site, later(14.1));
  expect(existsSync(undoable.path ?? "")).toBe(false);
  expect(after.events.map(({ name }) => name)).toContain("undo.dropped");
  // A sandbox still refers to it.
  expect(await after.coffer.history()).toHaveLength(1);
  await after.coffer.sandbox(sandbox.ref).cleanup();
  expect((await after.coffer.prune()).history).toHaveLength(1);
  expect(await after.coffer.history()).toEqual([]);
});

it("gives the oldest commits up when a device holds too much, whole plans at a time", async () => {
  const first = await openSite();
  await first.coffer.close();
  const site = await reopenSite(first, configured(first, "  max_bytes: 25000"));
  const commit = async (planId: string): Promise<string[]> => {
    const resources = ["x", "y"].map((id) => {
      const location = join(site.data, "..", `${planId}-${id}`);
      mkdirSync(location);
      plantData(location);
      writeFileSync(join(location, "b"), "b".repeat(5000));
      return { id, type: "fs-directory", location, sandboxStrategy: "copy_on_write" };
    });
    const plan = await site.coffer.plan(planId, resources);
    for (const id of ["x", "y"]) await edit(plan.sandbox(id));
    const { results } = await plan.commit();
    return Object.values(results).map(({ undoable }) => undoable.path ?? "");
  };
  const places = [await commit("one"), await commit("two"), await commit("three")];
  expect(places.map((pair) => pair.map((at) => existsSync(at)))).toEqual([
    [false, false],
    [true, true],
    [true, true],
  ]);
  const report = await (await site.coffer.plan("two")).undo();
  expect(report.succeeded.toSorted()).toEqual(["x", "y"]);
  await expect((await site.coffer.plan("one")).undo()).rejects.toMatchObject({
    data: { reason: "undoDataMissing" },
  });
});

it("leaves the undo data of a plan alone that somebody is working on", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "overlay");
  await edit(sandbox);
  const { undoable } = await sandbox.commit();
  const file = run("find", join(site.stateDirectory, "plans"), "-name", "lock").trim();
  const holder = spawn("flock", [file, "-c", "echo held; read line"]);
  await once(holder.stdout, "data");
  expect((await site.coffer.prune({ maxBytes: 0 })).undo).toEqual([]);
  expect(existsSync(undoable.path ?? "")).toBe(true);
  holder.stdin.end("go\n");
  await once(holder, "close");
  expect((await site.coffer.prune({ maxBytes: 0 })).undo).toMatchObject([{ ref: sandbox.ref }]);
  expect(existsSync(undoable.path ?? "")).toBe(false);
  expect((await site.coffer.prune({ maxBytes: 0 })).undo).toEqual([]);
});

describe.each(STRATEGIES)("a preview of an undo, %s", (strategy) => {
  it("lists exactly what the undo then does", async () => {
    const site = await openSite();
    const old = takeOracle(site.data);
    const sandbox = await sandboxOf(site, strategy);
    await edit(sandbox);
    await expect(sandbox.previewUndo()).rejects.toMatchObject({ code: "SANDBOX_STATE" });
    await sandbox.commit();
    const published = takeOracle(site.data);
    expect(await sandbox.previewUndo()).toEqual({
      possible: true,
      isChecked: true,
      obstacle: null,
      changed: ["a"],
      removed: ["made", "made/new"],
      restored: ["b"],
    });
    expectOracleEqual(published, takeOracle(site.data));
    await sandbox.undoCommit();
    expectOracleEqual(old, takeOracle(site.data));
  });

  it("names what somebody else changed since, as the undo does", async () => {
    const site = await openSite();
    const sandbox = await sandboxOf(site, strategy);
    await edit(sandbox);
    await sandbox.commit();
    writeFileSync(join(site.data, "a"), "of somebody else\n");
    const before = takeOracle(site.data);
    const { possible, obstacle } = await sandbox.previewUndo();
    expect({ possible, obstacle }).toMatchObject({
      possible: false,
      obstacle: { code: "SANDBOX_ROLLBACK" },
    });
    await expect(sandbox.undoCommit()).rejects.toMatchObject({ message: obstacle?.message });
    expectOracleEqual(before, takeOracle(site.data));
  });
});

it("tells for a whole plan which resource stands in the way", async () => {
  const site = await openPlanSite({ one: "overlay", two: "copy_on_write" });
  await site.plan.commit();
  const preview = await site.plan.previewUndo();
  expect(preview).toMatchObject({
    possible: true,
    resources: { one: { restored: ["b"] }, two: { restored: ["b"] } },
  });
  writeFileSync(join(site.real("two"), "a"), "of somebody else\n");
  expect(await site.plan.previewUndo()).toMatchObject({
    possible: false,
    resources: { one: { possible: true }, two: { possible: false } },
  });
});

it("keeps the undo data that its strategy cannot give up, and undoes by it (R262)", async () => {
  const site = await openSite();
  class Clinging extends FilesystemCopyStrategy {
    override dropUndo(): Promise<boolean> {
      return Promise.reject(new Error("not able to"));
    }
  }
  await site.coffer.registry.register("clinging", Clinging);
  const old = takeOracle(site.data);
  const sandbox = await sandboxOf(site, "clinging");
  await edit(sandbox);
  await sandbox.commit();
  expect((await site.coffer.prune({ maxBytes: 0 })).undo).toEqual([]);
  const { ref } = sandbox;
  expect(site.events).toContainEqual(
    expect.objectContaining({
      name: "undo.kept",
      data: expect.objectContaining({ planId: ref.planId, sandboxId: ref.sandboxId }) as unknown,
    }),
  );
  expect((await sandbox.describe()).undoable.possible).toBe(true);
  await sandbox.undoCommit();
  expectOracleEqual(old, takeOracle(site.data));
});

it("lets no commit fail because old undo data cannot be looked for (R262)", async () => {
  const first = await openSite();
  await first.coffer.close();
  const site = await reopenSite(first, configured(first, "  retention_days: 0"));
  const sandbox = await sandboxOf(site, "copy_on_write");
  await edit(sandbox);
  const unreadable = join(site.stateDirectory, "plans", "unreadable");
  mkdirSync(unreadable);
  symlinkSync("sandboxes", join(unreadable, "sandboxes"));
  const { undoable } = await sandbox.commit();
  expect(site.events.map(({ name }) => name)).toContain("undo.kept");
  expect(existsSync(undoable.path ?? "")).toBe(true);
  rmSync(unreadable, { recursive: true });
  expect((await site.coffer.prune()).undo).toMatchObject([{ ref: sandbox.ref }]);
  expect(existsSync(undoable.path ?? "")).toBe(false);
});
