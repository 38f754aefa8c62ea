import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Cofferdam, Plan } from "../../../src/index.ts";
import {
  type Ground,
  OTHER_DEVICE,
  PLAN,
  makeGround,
  openGround,
  stateOfResource,
  stateOfSandbox,
} from "../ground.ts";
import { type Ending, type Scene, type Shape, expectTold } from "../shape.ts";
import { SUBJECTS } from "../subjects.ts";
import { type Template, editTree } from "../tree.ts";

const MEMBERS = ["first", "second"] as const;

/** The second tree lies on another device, so that its stage lies apart from that of the first. */
function secondPlace({ folder }: Ground): string {
  return join(folder, OTHER_DEVICE, "real");
}

function makeTwo(template: Template): Ground {
  const ground = makeGround(SUBJECTS.copy, template);
  const device = join(ground.folder, OTHER_DEVICE);
  execFileSync("mkdir", [device]);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", device]);
  execFileSync("cp", ["-a", template.tree, secondPlace(ground)]);
  return ground;
}

async function editedPlan(ground: Ground, coffer: Cofferdam): Promise<Plan> {
  const plan = await coffer.plan(PLAN, [
    { id: "first", type: "fs-directory", location: ground.resource.location },
    {
      id: "second",
      type: "fs-directory",
      location: secondPlace(ground),
      sandboxStrategy: "copy_on_write",
    },
  ]);
  for (const id of MEMBERS) {
    editTree(await plan.sandbox(id).getPath(), "programs", "edited");
  }
  return plan;
}

/** Both trees are in the same state, whatever happened. */
function stateOfBoth(ground: Ground): "old" | "edited" | "later" {
  const first = stateOfResource(ground);
  const location = secondPlace(ground);
  const second = stateOfResource({ ...ground, resource: { ...ground.resource, location } });
  assert.equal(first, second, "one resource is new and the other is old");
  return first;
}

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

/** Both sandboxes are in the same state, whatever happened. */
async function stateOfSandboxes(
  ground: Ground,
  coffer: Cofferdam,
): Promise<"old" | "edited" | "later"> {
  const plan = await coffer.plan(PLAN);
  const states = await Promise.all(
    MEMBERS.map((id) => stateOfSandbox(ground, coffer, plan.sandbox(id).ref)),
  );
  assert.equal(states[0], states[1], "one sandbox is restored and the other is not");
  return states[0] ?? "old";
}

async function editLater(plan: Plan): Promise<void> {
  for (const id of MEMBERS) editTree(await plan.sandbox(id).getPath(), "programs", "later");
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
