import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Cofferdam, Plan } from "../../src/index.ts";
import {
  type Ground,
  OTHER_DEVICE,
  PLAN,
  makeGround,
  stateOfResource,
  stateOfSandbox,
} from "./ground.ts";
import { SUBJECTS } from "./subjects.ts";
import { type Template, type TreeState, editTree } from "./tree.ts";

const BOTH = ["first", "second"] as const;
/** What the plan is over. */
export const NAMED = "overlay and copy_on_write on two devices";

/** The second tree lies on another device, so that its stage lies apart from that of the first. */
export function secondPlace({ folder }: Pick<Ground, "folder">): string {
  return join(folder, OTHER_DEVICE, "real");
}

/** Makes both trees. */
export function makeTwo(template: Template): Ground {
  const ground = makeGround(SUBJECTS.copy, template);
  const device = join(ground.folder, OTHER_DEVICE);
  execFileSync("mkdir", [device]);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", device]);
  execFileSync("cp", ["-a", template.tree, secondPlace(ground)]);
  return ground;
}

/** Makes the plan over both trees, without any edit. They are committed in the order in which they are named. */
export function createPlan(
  ground: Ground,
  coffer: Cofferdam,
  order: readonly (typeof BOTH)[number][] = BOTH,
): Promise<Plan> {
  const type = "fs-directory";
  const resources = {
    first: { id: "first", type, location: ground.resource.location },
    second: {
      id: "second",
      type,
      location: secondPlace(ground),
      sandboxStrategy: "copy_on_write",
    },
  };
  return coffer.plan(
    PLAN,
    order.map((id) => resources[id]),
  );
}

/** Edits both sandboxes of the plan with plain programs. */
export async function editPlan(plan: Plan): Promise<void> {
  for (const id of BOTH) editTree(await plan.sandbox(id).getPath(), "programs", "edited");
}

/** In which state both trees are; throws when they differ. */
export function stateOfBoth(ground: Ground): TreeState {
  const first = stateOfResource(ground);
  const location = secondPlace(ground);
  const second = stateOfResource({ ...ground, resource: { ...ground.resource, location } });
  assert.equal(first, second, "one resource is new and the other is old");
  return first;
}

/** A plan over both trees with all edits. */
export async function editedPlan(ground: Ground, coffer: Cofferdam): Promise<Plan> {
  const plan = await createPlan(ground, coffer);
  await editPlan(plan);
  return plan;
}

/** Both sandboxes are in the same state, whatever happened. */
export async function stateOfSandboxes(
  ground: Ground,
  coffer: Cofferdam,
  planId = PLAN,
): Promise<TreeState> {
  const plan = await coffer.plan(planId);
  const states = await Promise.all(
    BOTH.map((id) => stateOfSandbox(ground, coffer, plan.sandbox(id).ref)),
  );
  assert.equal(states[0], states[1], "one sandbox is restored and the other is not");
  return states[0] ?? "old";
}

/** Edits both sandboxes further. */
export async function editLater(plan: Plan): Promise<void> {
  for (const id of BOTH) editTree(await plan.sandbox(id).getPath(), "programs", "later");
}
