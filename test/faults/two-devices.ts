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
import { type Template, editTree } from "./tree.ts";

const MEMBERS = ["first", "second"] as const;

/** The second tree lies on another device, so that its stage lies apart from that of the first. */
function secondPlace({ folder }: Ground): string {
  return join(folder, OTHER_DEVICE, "real");
}

/** A ground with two trees on two devices. */
export function makeTwo(template: Template): Ground {
  const ground = makeGround(SUBJECTS.copy, template);
  const device = join(ground.folder, OTHER_DEVICE);
  execFileSync("mkdir", [device]);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", device]);
  execFileSync("cp", ["-a", template.tree, secondPlace(ground)]);
  return ground;
}

/** A plan over both trees with all edits. */
export async function editedPlan(ground: Ground, coffer: Cofferdam): Promise<Plan> {
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
export function stateOfBoth(ground: Ground): "old" | "edited" | "later" {
  const first = stateOfResource(ground);
  const location = secondPlace(ground);
  const second = stateOfResource({ ...ground, resource: { ...ground.resource, location } });
  assert.equal(first, second, "one resource is new and the other is old");
  return first;
}

/** Both sandboxes are in the same state, whatever happened. */
export async function stateOfSandboxes(
  ground: Ground,
  coffer: Cofferdam,
  planId = PLAN,
): Promise<"old" | "edited" | "later"> {
  const plan = await coffer.plan(planId);
  const states = await Promise.all(
    MEMBERS.map((id) => stateOfSandbox(ground, coffer, plan.sandbox(id).ref)),
  );
  assert.equal(states[0], states[1], "one sandbox is restored and the other is not");
  return states[0] ?? "old";
}

/** Edits both sandboxes further. */
export async function editLater(plan: Plan): Promise<void> {
  for (const id of MEMBERS) editTree(await plan.sandbox(id).getPath(), "programs", "later");
}
