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
} from "../ground.ts";
import type { Scene, Shape, Ending } from "../shape.ts";
import { SUBJECTS } from "../subjects.ts";
import { type Template, editTree } from "../tree.ts";

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
  for (const id of ["first", "second"]) {
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
