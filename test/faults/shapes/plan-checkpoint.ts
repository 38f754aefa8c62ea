import assert from "node:assert/strict";
import { PLAN, openGround } from "../ground.ts";
import { type Shape, expectTold } from "../shape.ts";
import type { Template } from "../tree.ts";
import { TWO_DEVICES } from "./plan.ts";

/** The checkpoint of such a plan. */
export function planCheckpointShape(template: Template, world = TWO_DEVICES): Shape {
  const { stateOf, stateOfSandboxes } = world;
  return {
    name: `checkpoint of a plan, ${world.name}`,
    makeGround: () => world.make(template),
    arrange: async (ground) => {
      await using coffer = await openGround(ground);
      await world.edit(ground, coffer);
      return { operation: "plan.checkpoint", planId: PLAN, checkpointId: "kept" };
    },
    judgeAtOnce: (ground) => assert.equal(stateOf(ground), "old"),
    judge: async (scene) => {
      const { ground, coffer } = scene;
      const plan = await coffer.plan(PLAN);
      assert.equal(await stateOfSandboxes(ground, coffer), "edited");
      const isThere = (await plan.checkpoints()).length === 1;
      expectTold(scene, isThere);
      if (!isThere) await plan.checkpoint("kept");
      await world.editLater(plan);
      await plan.restoreCheckpoint("kept");
      assert.equal(await stateOfSandboxes(ground, coffer), "edited");
      return isThere ? "new" : "old";
    },
  };
}

/** The restore of such a checkpoint. */
export function planRestoreShape(template: Template, world = TWO_DEVICES): Shape {
  const { stateOf, stateOfSandboxes } = world;
  return {
    name: `restore of a plan, ${world.name}`,
    makeGround: () => world.make(template),
    arrange: async (ground) => {
      await using coffer = await openGround(ground);
      await world.edit(ground, coffer);
      const plan = await coffer.plan(PLAN);
      await plan.checkpoint("kept");
      await world.editLater(plan);
      return { operation: "plan.restoreCheckpoint", planId: PLAN, checkpointId: "kept" };
    },
    judgeAtOnce: (ground) => assert.equal(stateOf(ground), "old"),
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
