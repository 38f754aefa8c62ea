import assert from "node:assert/strict";
import type { Cofferdam, Plan, PlanOutcome } from "../../../src/index.ts";
import { type Ground, PLAN, openGround } from "../ground.ts";
import type { PlanOperation, Told } from "../order.ts";
import type { Ending, Scene, Shape } from "../shape.ts";
import type { Template, TreeState } from "../tree.ts";
import {
  NAMED,
  editLater,
  editedPlan,
  makeTwo,
  stateOfBoth,
  stateOfSandboxes,
} from "../two-devices.ts";

/** The resources of a plan that is disturbed. */
export interface World {
  /** For people. */
  readonly name: string;
  readonly make: (template: Template) => Ground;
  /** Makes the plan with all edits. */
  readonly edit: (ground: Ground, coffer: Cofferdam) => Promise<unknown>;
  /** In which state all resources are; throws when they differ. */
  readonly stateOf: (ground: Ground) => TreeState;
}

/** One whose sandboxes are looked at as well, between a checkpoint and its restore. */
export interface WorldOfSandboxes extends World {
  /** Edits all sandboxes further. */
  readonly editLater: (plan: Plan) => Promise<void>;
  /** In which state all sandboxes are; throws when they differ. */
  readonly stateOfSandboxes: (ground: Ground, coffer: Cofferdam) => Promise<TreeState>;
}

/** Two directories on two devices. */
export const TWO_DEVICES: WorldOfSandboxes = {
  name: NAMED,
  make: makeTwo,
  edit: editedPlan,
  stateOf: stateOfBoth,
  editLater,
  stateOfSandboxes,
};

async function arrangeEdited({ edit }: World, ground: Ground): Promise<void> {
  await using coffer = await openGround(ground);
  await edit(ground, coffer);
}

async function arrangeCommitted(world: World, ground: Ground): Promise<void> {
  await arrangeEdited(world, ground);
  await using coffer = await openGround(ground);
  await (await coffer.plan(PLAN)).commit();
}

function planShape(
  operation: PlanOperation,
  { template, world }: { readonly template: Template; readonly world: World },
  arrange: (world: World, ground: Ground) => Promise<void>,
  rest: Pick<Shape, "judgeAtOnce" | "judge">,
): Shape {
  return {
    name: `${operation.slice("plan.".length)} of a plan, ${world.name}`,
    makeGround: () => world.make(template),
    arrange: async (ground) => {
      await arrange(world, ground);
      return { operation, planId: PLAN };
    },
    ...rest,
  };
}

/** The commit of a plan; of two directories on two devices, an overlay and a copy, unless told. */
export function planCommitShape(template: Template, world: World = TWO_DEVICES): Shape {
  const { stateOf } = world;
  return planShape("plan.commit", { template, world }, arrangeEdited, {
    judgeAtOnce: (ground, told) => {
      const outcome = outcomeOf(told);
      if (outcome === "committed") assert.equal(stateOf(ground), "edited");
      if (isNothing(outcome)) assert.equal(stateOf(ground), "old");
    },
    judge: async (scene) => {
      const plan = await scene.coffer.plan(PLAN);
      const ending = await planCommitEnding(scene, plan, stateOf);
      if (ending === "new") await plan.undo();
      else assert.equal((await plan.commit()).outcome, "committed");
      assert.equal(stateOf(scene.ground), ending === "new" ? "old" : "edited");
      return ending;
    },
  });
}

/** The undo of such a commit. */
export function planUndoShape(template: Template, world: World = TWO_DEVICES): Shape {
  const { stateOf } = world;
  return planShape("plan.undo", { template, world }, arrangeCommitted, {
    judgeAtOnce: (ground, told) => {
      const { originalRestored } = (told.error?.data ?? {}) as { originalRestored?: boolean };
      if (told.outcome === "done" || originalRestored === true)
        assert.equal(stateOf(ground), "old");
    },
    judge: async (scene) => {
      const plan = await scene.coffer.plan(PLAN);
      const ending = await settledEnding(scene, plan, "old", stateOf);
      if (ending === "new") await plan.commit();
      else await plan.undo();
      assert.equal(stateOf(scene.ground), ending === "new" ? "edited" : "old");
      return ending;
    },
  });
}

/** The clean-up after such a commit: nothing is left, or a second one does the rest. */
export function planCleanupShape(template: Template, world: World = TWO_DEVICES): Shape {
  const expectKept = (ground: Ground): void => assert.equal(world.stateOf(ground), "edited");
  return planShape("plan.cleanup", { template, world }, arrangeCommitted, {
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
export async function planCommitEnding(
  scene: Scene,
  plan: Plan,
  stateOf: World["stateOf"] = stateOfBoth,
): Promise<Ending> {
  const ending = await settledEnding(scene, plan, "edited", stateOf);
  if (scene.told !== null && isNothing(outcomeOf(scene.told))) assert.equal(ending, "old");
  return ending;
}

async function settledEnding(
  { ground, told }: Scene,
  plan: Plan,
  wanted: "old" | "edited",
  stateOf: World["stateOf"],
): Promise<Ending> {
  const { sandboxes } = await plan.describe();
  const statuses = new Set(sandboxes.map(({ status }) => status));
  const state = stateOf(ground);
  assert.deepEqual([...statuses], [state === "edited" ? "COMMITTED" : "ACTIVE"]);
  const ending = state === wanted ? "new" : "old";
  if (told?.outcome === "done") assert.equal(ending, "new");
  return ending;
}

/** The outcome that was told; an error without a report is from before anything. */
export function outcomeOf({ committed, error }: Told): PlanOutcome {
  const data = (error?.data ?? {}) as { readonly report?: { readonly outcome: PlanOutcome } };
  return committed ?? data.report?.outcome ?? "refused";
}

function isNothing(outcome: PlanOutcome): boolean {
  return outcome === "aborted" || outcome === "refused";
}
