import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ProbeStrategy } from "../../fixtures/probe/probe-strategy.ts";
import { PROBES } from "../../fixtures/probe/probes.ts";
import {
  type Oracle,
  type OracleAspect,
  expectOracleEqual,
  takeOracle,
} from "../../support/oracle.ts";
import { act, startActing } from "../act.ts";
import { failureOf } from "../failure.ts";
import { mark } from "../site.ts";
import { until } from "../until.ts";
import { IDS, MIXED, contents, idsOf, keptIn, writeAll } from "./plan-contents.ts";
import { isPublished, openPlanSite } from "./plan-site.ts";

describe.each(["overlay", "copy_on_write", "filesystem_copy", "probe"])(
  "checkpoints of a plan over %s",
  (strategy) => {
    it("have the same ids, order and retention, whoever keeps the bytes (R202)", async () => {
      const strategies = { one: strategy, two: strategy };
      const limits = { automaticCheckpoints: 2 };
      const site = await openPlanSite(strategies, {}, { limits });
      const { plan, sandbox } = site;
      for (const name of ["first", "second"]) {
        for (const id of ["one", "two"]) await sandbox(id).write("a", `${name} ${id}`);
        await plan.checkpoint(name, { note: `the ${name}` });
      }
      for (let round = 0; round < 4; round += 1) {
        await sandbox("one").write("a", `round ${round}`);
        await plan.restoreCheckpoint(round % 2 === 0 ? "first" : "second");
      }
      expect(await contents(site, ["one", "two"])).toEqual(["second one", "second two"]);
      expect(await idsOf(site)).toEqual(["first", "second", "auto", "auto"]);
      expect(await plan.checkpoints()).toMatchObject([
        { id: "first", note: "the first", parentId: null, resources: ["one", "two"] },
        { id: "second", note: "the second", parentId: "first", isCurrent: true },
        { automatic: true, parentId: "second" },
        { automatic: true, parentId: "first", note: "before the restore of second" },
      ]);
      await plan.deleteCheckpoint("first");
      expect((await plan.checkpoints()).map(({ parentId }) => parentId)).toEqual([
        null,
        "second",
        null,
      ]);
    });

    it("bring the exact state of all back, in any order, and publish it (R198, R199, R209)", async () => {
      const site = await openPlanSite({ one: strategy, two: "copy_on_write" });
      const { plan, sandbox } = site;
      const look = async (): Promise<Oracle[]> =>
        Promise.all(["one", "two"].map(async (id) => takeOracle(await sandbox(id).getPath())));
      await plan.checkpoint("edited");
      const edited = await look();
      await sandbox("one").remove("sub");
      await sandbox("two").rename("a", "moved");
      await plan.checkpoint("later");
      const later = await look();
      // A view made by a program of its own changes the time of a folder when it copies a file in it up.
      const isFuse = ["fuse", "userns"].includes(sandbox("one").ref.metadata["mode"] as string);
      const ignore: OracleAspect[] = isFuse ? ["directoryMtimes"] : [];
      for (const [id, wanted] of [["edited", edited] as const, ["later", later] as const]) {
        await plan.restoreCheckpoint(id);
        const now = await look();
        wanted.forEach((oracle, at) => expectOracleEqual(oracle, now[at] ?? oracle, { ignore }));
      }
      await plan.restoreCheckpoint("edited");
      await plan.commit();
      expect([isPublished(site, "one"), isPublished(site, "two")]).toEqual([true, true]);
    });
  },
);

it("restores the state before a restore, which was kept by itself", async () => {
  const site = await openPlanSite(MIXED);
  await site.plan.checkpoint("start");
  await writeAll(site, "precious\n");
  await site.plan.restoreCheckpoint("start");
  expect(await contents(site)).toEqual(["new a\n", "new a\n", "new a\n"]);
  const before = (await site.plan.checkpoints()).find(({ automatic }) => automatic);
  await site.plan.restoreCheckpoint(before?.id ?? "");
  expect(await contents(site)).toEqual(["precious\n", "precious\n", "precious\n"]);
  const names = site.site.events.map(({ name }) => name).filter((name) => name.startsWith("plan."));
  expect(names).toEqual(["plan.checkpointed", "plan.restored", "plan.restored"]);
});

it("lets no writer in between its sandboxes (R207)", async () => {
  const site = await openPlanSite(MIXED);
  const { plan, sandbox } = site;
  const marker = await mark(sandbox("three"), "checkpoint", "wait");
  const made = plan.checkpoint("moment");
  await until(() => keptIn(site, "two").length === 1);
  const { stateDirectory } = site.site;
  const calls = [["write", "a", "meanwhile\n"]] as const;
  for (const id of IDS) {
    const options = { stateDirectory, recover: "report", limits: { lockTimeoutMs: 20 } } as const;
    const { error } = await act({ options, ref: sandbox(id).ref, calls });
    expect(error).toMatchObject({ code: "PLAN_BUSY" });
  }
  const patient = await startActing({
    options: { stateDirectory },
    ref: sandbox("one").ref,
    calls,
  });
  rmSync(marker);
  await made;
  expect((await patient.result).code).toBe(0);
  expect(await contents(site)).toEqual(["meanwhile\n", "new a\n", "new a\n"]);
  await plan.restoreCheckpoint("moment");
  expect(await contents(site)).toEqual(["new a\n", "new a\n", "new a\n"]);
});

it("is not there at all when the third of three cannot be kept (R207)", async () => {
  const site = await openPlanSite(MIXED);
  await mark(site.sandbox("three"), "checkpoint", "once", "error");
  expect(await failureOf(site.plan.checkpoint("kept"))).toMatchObject({
    code: "CHECKPOINT",
    data: { checkpointId: "kept", reason: "failed" },
    resourceId: "three",
  });
  expect(await site.plan.checkpoints()).toEqual([]);
  expect([keptIn(site, "two"), keptIn(site, "three")]).toEqual([[], []]);
  await site.plan.checkpoint("kept");
  expect(await idsOf(site)).toEqual(["kept"]);
});

it.each(["none", "forgetful", "silent"])(
  "is refused before anything beside a sandbox of %s, which keeps none (R203)",
  async (strategy) => {
    const site = await openPlanSite({ one: "probe" });
    await site.site.coffer.create("plan", site.site.data, { strategy });
    for (const work of [site.plan.checkpoint("c"), site.plan.restoreCheckpoint("c")]) {
      expect(await failureOf(work)).toMatchObject({
        code: "CHECKPOINT",
        data: { reason: "unsupported" },
        resourceId: site.site.data,
      });
    }
    expect(keptIn(site, "one")).toEqual([]);
  },
);

it("refuses unknown, duplicate and malformed ids, and plans that are not there (R200)", async () => {
  const site = await openPlanSite({ one: "filesystem_copy" });
  await site.plan.checkpoint("kept");
  const refusals = [
    [site.plan.checkpoint("../x"), "malformed"],
    [site.plan.checkpoint("auto-x"), "malformed"],
    [site.plan.checkpoint("kept"), "duplicate"],
    [site.plan.restoreCheckpoint("other"), "unknown"],
    [site.plan.restoreCheckpoint("a/b"), "malformed"],
    [site.plan.deleteCheckpoint("other"), "unknown"],
  ] as const;
  for (const [work, reason] of refusals) {
    expect(await failureOf(work)).toMatchObject({ code: "CHECKPOINT", data: { reason } });
  }
  const nowhere = await site.site.coffer.plan("nowhere");
  expect(await failureOf(nowhere.checkpoint("c"))).toMatchObject({ code: "SANDBOX_STATE" });
  expect(await nowhere.checkpoints()).toEqual([]);
});

it("is restored only while the plan has the same sandboxes", async () => {
  const site = await openPlanSite({ one: "copy_on_write", two: "copy_on_write" });
  await site.plan.checkpoint("kept");
  const added = await site.site.coffer.create("plan", site.site.data, { strategy: "probe" });
  const refused = { code: "CHECKPOINT", data: { reason: "members" } };
  expect(await failureOf(site.plan.restoreCheckpoint("kept"))).toMatchObject(refused);
  await site.site.coffer.sandbox(added).cleanup();
  await site.plan.restoreCheckpoint("kept");
  await site.sandbox("two").cleanup();
  expect(await failureOf(site.plan.restoreCheckpoint("kept"))).toMatchObject(refused);
  await site.plan.deleteCheckpoint("kept");
  expect(keptIn(site, "one")).toHaveLength(1);
});

it("is refused while one sandbox is committed, and possible again after the undo (R206)", async () => {
  const site = await openPlanSite(MIXED);
  await site.plan.checkpoint("kept");
  await site.plan.commit();
  for (const work of [site.plan.checkpoint("c"), site.plan.restoreCheckpoint("kept")]) {
    expect(await failureOf(work)).toMatchObject({
      code: "SANDBOX_STATE",
      data: { status: "COMMITTED" },
    });
  }
  await site.plan.undo();
  await writeAll(site, "later\n");
  await site.plan.restoreCheckpoint("kept");
  expect(await contents(site)).toEqual(["new a\n", "new a\n", "new a\n"]);
});

it("makes sandboxes active again that were rolled back (R206)", async () => {
  const site = await openPlanSite(MIXED);
  await site.plan.checkpoint("kept");
  await site.plan.rollback();
  await site.plan.restoreCheckpoint("kept");
  const statuses = (await site.plan.describe()).sandboxes.map(({ status }) => status);
  expect(statuses).toEqual(["ACTIVE", "ACTIVE", "ACTIVE"]);
  await site.plan.commit();
  expect(IDS.map((id) => isPublished(site, id))).toEqual([true, true, true]);
});

it("keeps ids apart from those of its sandboxes, and their order right", async () => {
  const site = await openPlanSite(MIXED);
  const one = site.sandbox("one");
  await one.checkpoint("c");
  await site.plan.checkpoint("c");
  await one.write("a", "own\n");
  await one.checkpoint("d");
  await site.plan.restoreCheckpoint("c");
  expect((await one.describe()).currentCheckpoint).toBe("c");
  expect(await contents(site)).toEqual(["new a\n", "new a\n", "new a\n"]);
  await one.restoreCheckpoint("d");
  expect(await contents(site, ["one"])).toEqual(["own\n"]);
  expect((await one.describe()).checkpoints.map(({ id }) => id)).toEqual([
    "c",
    "d",
    expect.stringMatching(/^auto-/),
  ]);
});

it("goes away with the plan and leaves nothing", async () => {
  const site = await openPlanSite(MIXED);
  await site.plan.checkpoint("kept");
  await site.plan.restoreCheckpoint("kept");
  await site.plan.cleanup();
  expect(readdirSync(join(site.site.stateDirectory, "plans"))).toEqual([]);
  expect(await site.plan.checkpoints()).toEqual([]);
});

it("is not there when the third cannot be kept, also where the first cannot be dropped (R262)", async () => {
  class Clinging extends ProbeStrategy {
    override deleteCheckpoint(): Promise<void> {
      return Promise.reject(new Error("not able to"));
    }
  }
  const strategies = { ...PROBES, clinging: Clinging };
  const members = { one: "clinging", two: "copy_on_write", three: "probe" };
  const site = await openPlanSite(members, {}, { strategies });
  await mark(site.sandbox("three"), "checkpoint", "once", "error");
  expect(await failureOf(site.plan.checkpoint("kept"))).toMatchObject({
    code: "CHECKPOINT",
    resourceId: "three",
  });
  expect(site.site.events.map(({ name }) => name)).toContain("leftovers.kept");
  expect(await site.plan.checkpoints()).toEqual([]);
  expect([keptIn(site, "one").length, keptIn(site, "two").length]).toEqual([1, 0]);
  await site.plan.checkpoint("kept");
  expect(await idsOf(site)).toEqual(["kept"]);
  await site.plan.cleanup();
  expect(readdirSync(join(site.site.stateDirectory, "plans"))).toEqual([]);
});
