import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { CommitResult, SandboxRef } from "../../../src/index.ts";
import { ProbeStrategy } from "../../fixtures/probe/probe-strategy.ts";
import { PROBES } from "../../fixtures/probe/probes.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { failureOf } from "../failure.ts";
import { edit, openSite, run, sandboxOf } from "../site.ts";
import { contents, idsOf } from "./plan-contents.ts";
import { type PlanSite, isPublished, openPlanSite } from "./plan-site.ts";

const TWO = { one: "copy_on_write", two: "two-phase" };
const IDS = Object.keys(TWO);

/** Lets nobody replace a file of the state directory until the answer is called, or the test ends. */
function freeze(stateDirectory: string, name: string): () => void {
  const file = run("find", join(stateDirectory, "plans"), "-name", name).trim();
  const thaw = (): void => void run("chattr", "-i", file);
  run("chattr", "+i", file);
  onTestFinished(() => {
    if (existsSync(file)) thaw();
  });
  return thaw;
}

/** The same for the record of a sandbox. */
function freezeRecord({ site, sandbox }: PlanSite, id: string): () => void {
  return freeze(site.stateDirectory, `${sandbox(id).ref.sandboxId}.json`);
}

const published = (site: PlanSite): boolean[] => IDS.map((id) => isPublished(site, id));

/** What is recorded of each sandbox. */
async function recorded({ plan }: PlanSite): Promise<unknown[]> {
  const { sandboxes } = await plan.describe();
  return sandboxes.map(({ status, interrupted }) => [status, interrupted]);
}

it("commits nothing when the second sandbox cannot be marked, and takes the mark from the first (R262)", async () => {
  const site = await openPlanSite(TWO);
  const before = await recorded(site);
  const thaw = freezeRecord(site, "two");
  expect(await failureOf(site.plan.commit())).toMatchObject({
    code: "ATOMIC_COMMIT",
    data: { report: { outcome: "aborted", order: [], rolledBack: [] } },
  });
  expect(published(site)).toEqual([false, false]);
  expect(await recorded(site)).toEqual(before);
  thaw();
  expect(await site.plan.commit()).toMatchObject({ outcome: "committed" });
  expect(published(site)).toEqual([true, true]);
});

it("undoes nothing when the second sandbox cannot be marked, and takes the mark from the first (R262)", async () => {
  const site = await openPlanSite(TWO);
  await site.plan.commit();
  const before = await recorded(site);
  const thaw = freezeRecord(site, "one");
  expect(await failureOf(site.plan.undo())).toMatchObject({ code: "SANDBOX_ROLLBACK" });
  expect(published(site)).toEqual([true, true]);
  expect(await recorded(site)).toEqual(before);
  thaw();
  expect(await site.plan.undo()).toMatchObject({ succeeded: ["two", "one"] });
  expect(published(site)).toEqual([false, false]);
});

it("restores nothing when the second sandbox cannot be marked, and takes the mark from the first (R262)", async () => {
  const site = await openPlanSite(TWO);
  await site.plan.checkpoint("kept");
  for (const id of IDS) await site.sandbox(id).write("a", "later\n");
  const before = await recorded(site);
  const thaw = freezeRecord(site, "two");
  expect(await failureOf(site.plan.restoreCheckpoint("kept"))).toMatchObject({
    code: "CHECKPOINT",
    data: { checkpointId: "kept", reason: "failed" },
  });
  expect(await contents(site, IDS)).toEqual(["later\n", "later\n"]);
  expect(await recorded(site)).toEqual(before);
  thaw();
  await site.plan.restoreCheckpoint("kept");
  expect(await contents(site, IDS)).toEqual(["new a\n", "new a\n"]);
});

it("lists no checkpoint that could not be written to the list, and makes it later (R262)", async () => {
  const site = await openPlanSite(TWO);
  await site.plan.checkpoint("kept");
  const thaw = freeze(site.site.stateDirectory, "checkpoints.json");
  expect(await failureOf(site.plan.checkpoint("more"))).toMatchObject({
    code: "CHECKPOINT",
    data: { checkpointId: "more", reason: "failed" },
  });
  expect(await idsOf(site)).toEqual(["kept"]);
  thaw();
  await site.plan.checkpoint("more");
  expect(await idsOf(site)).toEqual(["kept", "more"]);
});

it("leaves a restore to recovery when it cannot be listed, and puts all sandboxes back then (R262)", async () => {
  const thaws: (() => void)[] = [];
  class Freezing extends ProbeStrategy {
    override async restoreCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
      await super.restoreCheckpoint(ref, checkpointId);
      const { stateDirectory } = site.site;
      if (thaws.length === 0) thaws.push(freeze(stateDirectory, "checkpoints.json"));
    }
  }
  const strategies = { ...PROBES, freezing: Freezing };
  const site = await openPlanSite({ one: "copy_on_write", two: "freezing" }, {}, { strategies });
  await site.plan.checkpoint("kept");
  for (const id of IDS) await site.sandbox(id).write("a", "later\n");
  expect(await failureOf(site.plan.restoreCheckpoint("kept"))).toMatchObject({
    code: "CHECKPOINT",
    data: { checkpointId: "kept", reason: "failed" },
    hint: expect.any(String) as string,
  });
  expect(await recorded(site)).toEqual([
    ["ACTIVE", true],
    ["ACTIVE", true],
  ]);
  for (const thaw of thaws) thaw();
  expect(await site.site.coffer.recover()).toMatchObject({ complete: true });
  expect(await contents(site, IDS)).toEqual(["later\n", "later\n"]);
  await site.plan.restoreCheckpoint("kept");
  expect(await contents(site, IDS)).toEqual(["new a\n", "new a\n"]);
});

it("tells of a failed commit also where its end cannot be recorded, and recovers it (R262)", async () => {
  const site = await openSite();
  const { stateDirectory } = site;
  const thaws: (() => void)[] = [];
  class Freezing extends ProbeStrategy {
    override commit(...call: [ref: SandboxRef]): Promise<CommitResult> {
      if (thaws.length > 0) return super.commit(...call);
      thaws.push(freeze(stateDirectory, `${call[0].sandboxId}.json`));
      return Promise.reject(new Error("not today"));
    }
  }
  await site.coffer.registry.register("freezing", Freezing);
  const sandbox = await sandboxOf(site, "freezing");
  await edit(sandbox);
  const before = takeOracle(site.data);
  expect(await failureOf(sandbox.commit())).toMatchObject({
    code: "SANDBOX_COMMIT",
    data: { originalRestored: true },
  });
  expect(site.events.map(({ name }) => name)).toContain("sandbox.recordPending");
  expectOracleEqual(before, takeOracle(site.data));
  expect(await site.coffer.status(sandbox.ref)).toBe("COMMITTING");
  for (const thaw of thaws) thaw();
  expect(await site.coffer.recover()).toMatchObject({ complete: true });
  expect(await site.coffer.status(sandbox.ref)).toBe("ACTIVE");
  expect(await sandbox.commit()).toMatchObject({ deleted: ["b"] });
});
