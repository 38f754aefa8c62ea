import assert from "node:assert/strict";
import { type Ground, PLAN, openGround } from "../ground.ts";
import type { MixedWorld } from "../mixed/world.ts";
import type { Operation } from "../order.ts";
import { planCommitEnding, planCommitShape, planUndoShape } from "../shapes/plan.ts";
import { createPlan, editPlan, stateOfBoth } from "../two-devices.ts";
import type { Scene, Ending, Shape } from "../shape.ts";
import type { Template } from "../tree.ts";

/** An operation during which the power fails. */
export interface PowerShape {
  readonly name: string;
  /** The ground with what else is known of it; as it is unless given. */
  readonly known?: (ground: Ground) => Ground;
  /** What is there and on disk before. */
  readonly prepare: (ground: Ground) => Promise<void>;
  /** What was done just before the operation, and need not be on disk. */
  readonly justBefore?: (ground: Ground) => Promise<void>;
  readonly operation: Operation;
  readonly judge: Shape["judge"];
}

/** The shapes by what is told of them. */
export const POWER_SHAPES = {
  "a commit of fresh edits": () => ({
    name: "commit of a plan, edits not yet on disk",
    prepare: create,
    justBefore: edit,
    operation: { operation: "plan.commit", planId: PLAN },
    judge: judgeFresh,
  }),
  "a commit of older edits": (template) => ({
    name: "commit of a plan, edits on disk",
    prepare: async (ground) => {
      await create(ground);
      await edit(ground);
    },
    operation: { operation: "plan.commit", planId: PLAN },
    judge: planCommitShape(template).judge,
  }),
  "an undo": (template) => ({
    name: "undo of a plan",
    prepare: async (ground) => {
      await using coffer = await openGround(ground);
      const plan = await createPlan(ground, coffer);
      await editPlan(plan);
      await plan.commit();
    },
    operation: { operation: "plan.undo", planId: PLAN },
    judge: planUndoShape(template).judge,
  }),
} as const satisfies Record<string, (template: Template) => PowerShape>;

/** The shapes of plans over several kinds of resources, by what is told of them. */
export const MIXED_POWER_SHAPES = {
  "a commit": (template, world) => ({
    name: `commit of a plan, ${world.name}`,
    known: world.known,
    prepare: (ground) => furnishEdited(world, ground),
    operation: { operation: "plan.commit", planId: PLAN },
    judge: planCommitShape(template, world).judge,
  }),
  "an undo": (template, world) => ({
    name: `undo of a plan, ${world.name}`,
    known: world.known,
    prepare: async (ground) => {
      await furnishEdited(world, ground);
      await using coffer = await openGround(world.known(ground));
      await (await coffer.plan(PLAN)).commit();
    },
    operation: { operation: "plan.undo", planId: PLAN },
    judge: planUndoShape(template, world).judge,
  }),
} as const satisfies Record<string, (template: Template, world: MixedWorld) => PowerShape>;

async function furnishEdited(world: MixedWorld, ground: Ground): Promise<void> {
  world.furnish(ground);
  const known = world.known(ground);
  await using coffer = await openGround(known);
  await world.edit(known, coffer);
}

/** Nobody promises that edits outlive a loss of power before they are committed. */
async function judgeFresh(scene: Scene): Promise<Ending> {
  const plan = await scene.coffer.plan(PLAN);
  const ending = await planCommitEnding(scene, plan);
  if (ending === "new") await plan.undo();
  else await plan.rollback();
  assert.equal(stateOfBoth(scene.ground), "old");
  return ending;
}

/**
 * The state directory lies on the first disk. What is decided there must be on disk before anything is done on the
 * second one, so the second one has its turn first: in a commit by this order, in an undo by the reverse of the other.
 */
const SECOND_DISK_FIRST = ["second", "first"] as const;

async function create(ground: Ground): Promise<void> {
  await using coffer = await openGround(ground);
  await createPlan(ground, coffer, SECOND_DISK_FIRST);
}

async function edit(ground: Ground): Promise<void> {
  await using coffer = await openGround(ground);
  await editPlan(await coffer.plan(PLAN));
}
