import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Cofferdam, Plan, PlanOutcome } from "../../../src/index.ts";
import {
  type Ground,
  OTHER_DEVICE,
  PLAN,
  makeGround,
  openGround,
  stateOfResource,
} from "../ground.ts";
import type { PlanOperation, Told } from "../order.ts";
import type { Ending, Scene, Shape } from "../shape.ts";
import { SUBJECTS } from "../subjects.ts";
import { type Template, type TreeState, editTree } from "../tree.ts";

/** The resources of the plan. */
export const BOTH = ["first", "second"] as const;
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

async function editedPlan(ground: Ground): Promise<void> {
  await using coffer = await openGround(ground);
  await editPlan(await createPlan(ground, coffer));
}

async function committedPlan(ground: Ground): Promise<void> {
  await editedPlan(ground);
  await using coffer = await openGround(ground);
  await (await coffer.plan(PLAN)).commit();
}

/** In which state both trees are; throws when they differ. */
export function stateOfBoth(ground: Ground): TreeState {
  const first = stateOfResource(ground);
  const location = secondPlace(ground);
  const second = stateOfResource({ ...ground, resource: { ...ground.resource, location } });
  assert.equal(first, second, "one resource is new and the other is old");
  return first;
}

function planShape(
  operation: PlanOperation,
  template: Template,
  arrange: (ground: Ground) => Promise<void>,
  rest: Pick<Shape, "judgeAtOnce" | "judge">,
): Shape {
  return {
    name: `${operation.slice("plan.".length)} of a plan, ${NAMED}`,
    makeGround: () => makeTwo(template),
    arrange: async (ground) => {
      await arrange(ground);
      return { operation, planId: PLAN };
    },
    ...rest,
  };
}

/** The commit of two directories on two devices, an overlay and a copy. */
export function planCommitShape(template: Template): Shape {
  return planShape("plan.commit", template, editedPlan, {
    judgeAtOnce: (ground, told) => {
      const outcome = outcomeOf(told);
      if (outcome === "committed") assert.equal(stateOfBoth(ground), "edited");
      if (isNothing(outcome)) assert.equal(stateOfBoth(ground), "old");
    },
    judge: async (scene) => {
      const plan = await scene.coffer.plan(PLAN);
      const ending = await planCommitEnding(scene, plan);
      if (ending === "new") await plan.undo();
      else assert.equal((await plan.commit()).outcome, "committed");
      assert.equal(stateOfBoth(scene.ground), ending === "new" ? "old" : "edited");
      return ending;
    },
  });
}

/** The undo of such a commit. */
export function planUndoShape(template: Template): Shape {
  return planShape("plan.undo", template, committedPlan, {
    judgeAtOnce: (ground, told) => {
      const { originalRestored } = (told.error?.data ?? {}) as { originalRestored?: boolean };
      if (told.outcome === "done" || originalRestored === true)
        assert.equal(stateOfBoth(ground), "old");
    },
    judge: async (scene) => {
      const plan = await scene.coffer.plan(PLAN);
      const ending = await settledEnding(scene, plan, "old");
      if (ending === "new") await plan.commit();
      else await plan.undo();
      assert.equal(stateOfBoth(scene.ground), ending === "new" ? "edited" : "old");
      return ending;
    },
  });
}

/** The clean-up after such a commit: nothing is left, or a second one does the rest. */
export function planCleanupShape(template: Template): Shape {
  const expectKept = (ground: Ground): void => assert.equal(stateOfBoth(ground), "edited");
  return planShape("plan.cleanup", template, committedPlan, {
    judgeAtOnce: expectKept,
    judge: async ({ ground, coffer, told }) => {
      expectKept(ground);
      const left = await coffer.list();
      if (told?.outcome === "done") assert.deepEqual(left, []);
      if (left.length > 0) {
        const { failed } = await (await coffer.plan(PLAN)).cleanup();
        assert.deepEqual(failed, {});
      }
      expectKept(ground);
      return left.length === 0 ? "new" : "old";
    },
  });
}

/** How a commit ended, after recovery; throws when that is a mixture or not what was said. */
export async function planCommitEnding(scene: Scene, plan: Plan): Promise<Ending> {
  const ending = await settledEnding(scene, plan, "edited");
  if (scene.told !== null && isNothing(outcomeOf(scene.told))) assert.equal(ending, "old");
  return ending;
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

/** The outcome that was told; an error without a report is from before anything. */
function outcomeOf({ committed, error }: Told): PlanOutcome {
  const data = (error?.data ?? {}) as { readonly report?: { readonly outcome: PlanOutcome } };
  return committed ?? data.report?.outcome ?? "refused";
}

function isNothing(outcome: PlanOutcome): boolean {
  return outcome === "aborted" || outcome === "refused";
}
