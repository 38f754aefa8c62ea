import assert from "node:assert/strict";
import { PLAN, openGround } from "../ground.ts";
import { type Shape, expectTold } from "../shape.ts";
import type { Template } from "../tree.ts";
import { editedPlan, makeTwo, stateOfBoth, stateOfSandboxes } from "../two-devices.ts";

const FORK = "fork";

/** The fork of a plan over two directories on two devices, an overlay and a copy. */
export function forkShape(template: Template): Shape {
  return {
    name: "fork of a plan, overlay and copy_on_write on two devices",
    makeGround: () => makeTwo(template),
    arrange: async (ground) => {
      await using coffer = await openGround(ground);
      await editedPlan(ground, coffer);
      return { operation: "plan.fork", planId: PLAN, name: FORK };
    },
    judgeAtOnce: (ground) => assert.equal(stateOfBoth(ground), "old"),
    judge: async (scene) => {
      const { ground, coffer } = scene;
      const isThere = (await coffer.list(FORK)).length > 0;
      expectTold(scene, isThere);
      assert.equal(await stateOfSandboxes(ground, coffer), "edited");
      if (!isThere) await (await coffer.plan(PLAN)).fork(FORK);
      assert.equal((await coffer.list(FORK)).length, 2);
      assert.equal(await stateOfSandboxes(ground, coffer, FORK), "edited");
      return isThere ? "new" : "old";
    },
  };
}

/** The clean-up of one of two plans that share layers: the other one stays whole. */
export function forkCleanupShape(of: "origin" | "fork", template: Template): Shape {
  const [gone, stays] = of === "origin" ? [PLAN, FORK] : [FORK, PLAN];
  return {
    name: `cleanup of ${of === "origin" ? "a forked plan" : "a fork"}, overlay and copy_on_write`,
    makeGround: () => makeTwo(template),
    arrange: async (ground) => {
      await using coffer = await openGround(ground);
      await (await editedPlan(ground, coffer)).fork(FORK);
      return { operation: "plan.cleanup", planId: gone };
    },
    judgeAtOnce: (ground) => assert.equal(stateOfBoth(ground), "old"),
    judge: async ({ ground, coffer }) => {
      const isGone = (await coffer.list(gone)).length === 0;
      assert.equal(await stateOfSandboxes(ground, coffer, stays), "edited");
      if (!isGone) assert.deepEqual((await (await coffer.plan(gone)).cleanup()).failed, {});
      assert.equal(await stateOfSandboxes(ground, coffer, stays), "edited");
      return isGone ? "new" : "old";
    },
  };
}

/** The clean-up of a fork whose origin is gone, and with which the shared layers go. */
export function lastCleanupShape(template: Template): Shape {
  return {
    name: "cleanup of the last of two plans that share layers, overlay and copy_on_write",
    makeGround: () => makeTwo(template),
    arrange: async (ground) => {
      await using coffer = await openGround(ground);
      const plan = await editedPlan(ground, coffer);
      await plan.fork(FORK);
      await plan.cleanup();
      return { operation: "plan.cleanup", planId: FORK };
    },
    judgeAtOnce: (ground) => assert.equal(stateOfBoth(ground), "old"),
    judge: async ({ coffer }) => {
      const isGone = (await coffer.list(FORK)).length === 0;
      if (!isGone) assert.deepEqual((await (await coffer.plan(FORK)).cleanup()).failed, {});
      return isGone ? "new" : "old";
    },
  };
}
