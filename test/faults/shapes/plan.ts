import assert from "node:assert/strict";
import type { Plan } from "../../../src/index.ts";
import { PLAN, openGround } from "../ground.ts";
import { type Ending, type Scene, type Shape, expectTold } from "../shape.ts";
import type { Template } from "../tree.ts";
import { editLater, editedPlan, makeTwo, stateOfBoth, stateOfSandboxes } from "../two-devices.ts";

/** The commit of two directories on two devices, an overlay and a copy. */
export function planCommitShape(template: Template): Shape {
  return {
    name: "commit of a plan, overlay and copy_on_write on two devices",
    makeGround: () => makeTwo(template),
    arrange: async (ground) => {
      await using coffer = await openGround(ground);
      await editedPlan(ground, coffer);
      return { operation: "plan.commit", planId: PLAN };
    },
    judgeAtOnce: (ground, told) => {
      if (told.outcome === "done") assert.equal(stateOfBoth(ground), "edited");
      const report = reportOf(told.error?.data);
      if (report?.outcome === "aborted") assert.equal(stateOfBoth(ground), "old");
    },
    judge: async (scene) => {
      const plan = await scene.coffer.plan(PLAN);
      const ending = await settledEnding(scene, plan, "edited");
      if (ending === "new") await plan.undo();
      else assert.equal((await plan.commit()).outcome, "committed");
      assert.equal(stateOfBoth(scene.ground), ending === "new" ? "old" : "edited");
      return ending;
    },
  };
}

/** The undo of such a commit. */
export function planUndoShape(template: Template): Shape {
  return {
    name: "undo of a plan, overlay and copy_on_write on two devices",
    makeGround: () => makeTwo(template),
    arrange: async (ground) => {
      await using coffer = await openGround(ground);
      await (await editedPlan(ground, coffer)).commit();
      return { operation: "plan.undo", planId: PLAN };
    },
    judgeAtOnce: (ground, told) => {
      if (told.outcome === "done") assert.equal(stateOfBoth(ground), "old");
    },
    judge: async (scene) => {
      const plan = await scene.coffer.plan(PLAN);
      const ending = await settledEnding(scene, plan, "old");
      if (ending === "new") await plan.commit();
      else await plan.undo();
      assert.equal(stateOfBoth(scene.ground), ending === "new" ? "edited" : "old");
      return ending;
    },
  };
}

/** The checkpoint of such a plan. */
export function planCheckpointShape(template: Template): Shape {
  return {
    name: "checkpoint of a plan, overlay and copy_on_write on two devices",
    makeGround: () => makeTwo(template),
    arrange: async (ground) => {
      await using coffer = await openGround(ground);
      await editedPlan(ground, coffer);
      return { operation: "plan.checkpoint", planId: PLAN, checkpointId: "kept" };
    },
    judgeAtOnce: (ground) => assert.equal(stateOfBoth(ground), "old"),
    judge: async (scene) => {
      const { ground, coffer } = scene;
      const plan = await coffer.plan(PLAN);
      assert.equal(await stateOfSandboxes(ground, coffer), "edited");
      const isThere = (await plan.checkpoints()).length === 1;
      expectTold(scene, isThere);
      if (!isThere) await plan.checkpoint("kept");
      await editLater(plan);
      await plan.restoreCheckpoint("kept");
      assert.equal(await stateOfSandboxes(ground, coffer), "edited");
      return isThere ? "new" : "old";
    },
  };
}

/** The restore of such a checkpoint. */
export function planRestoreShape(template: Template): Shape {
  return {
    name: "restore of a plan, overlay and copy_on_write on two devices",
    makeGround: () => makeTwo(template),
    arrange: async (ground) => {
      await using coffer = await openGround(ground);
      const plan = await editedPlan(ground, coffer);
      await plan.checkpoint("kept");
      await editLater(plan);
      return { operation: "plan.restoreCheckpoint", planId: PLAN, checkpointId: "kept" };
    },
    judgeAtOnce: (ground) => assert.equal(stateOfBoth(ground), "old"),
    judge: async (scene) => {
      const { ground, coffer } = scene;
      const found = await stateOfSandboxes(ground, coffer);
      assert.ok(found !== "old");
      const ending = found === "edited" ? "new" : "old";
      expectTold(scene, ending === "new");
      assert.deepEqual((await coffer.interrupted()).sandboxes, []);
      const plan = await coffer.plan(PLAN);
      const [, before] = await plan.checkpoints();
      // The state before is kept as soon as anything moves.
      if (ending === "new") assert.equal(before?.automatic, true);
      const wanted = ending === "new" ? before?.id : "kept";
      await plan.restoreCheckpoint(wanted ?? "");
      assert.equal(await stateOfSandboxes(ground, coffer), ending === "new" ? "later" : "edited");
      return ending;
    },
  };
}

async function settledEnding(
  { ground, told }: Scene,
  plan: Plan,
  wanted: "old" | "edited",
): Promise<Ending> {
  const { sandboxes } = await plan.describe();
  const statuses = new Set(sandboxes.map(({ status }) => status));
  const state = stateOfBoth(ground);
  assert.deepEqual([...statuses], [state === "edited" ? "COMMITTED" : "ACTIVE"]);
  const ending = state === wanted ? "new" : "old";
  if (told?.outcome === "done") assert.equal(ending, "new");
  return ending;
}

function reportOf(data: unknown): { readonly outcome: string } | undefined {
  return (data as { readonly report?: { readonly outcome: string } } | undefined)?.report;
}
