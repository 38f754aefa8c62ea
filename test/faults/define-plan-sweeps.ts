import { defineSweep } from "./define-sweep.ts";
import { planCheckpointShape, planRestoreShape } from "./shapes/plan-checkpoint.ts";
import {
  type WorldOfSandboxes,
  planCleanupShape,
  planCommitShape,
  planUndoShape,
} from "./shapes/plan.ts";

/** Disturbs everything that can be done with a plan over these members; `world` is asked for when they are there. */
export function definePlanSweeps(members: string, world: () => WorldOfSandboxes): void {
  defineSweep(
    `a commit of ${members} publishes all or nothing`,
    (template) => planCommitShape(template, world()),
    { sampled: 2, hasChildren: true },
  );
  defineSweep(
    "an undo of such a commit takes all of it back or nothing",
    (template) => planUndoShape(template, world()),
    { sampled: 1, hasChildren: true },
  );
  defineSweep(
    "a checkpoint of such a plan is kept whole or not at all",
    (template) => planCheckpointShape(template, world()),
    { sampled: 1 },
  );
  defineSweep(
    "a restore of such a plan brings all back or nothing",
    (template) => planRestoreShape(template, world()),
    { sampled: 1, hasChildren: true },
  );
  defineSweep(
    "a clean-up after such a commit can always be finished",
    (template) => planCleanupShape(template, world()),
    { sampled: 1 },
  );
}
