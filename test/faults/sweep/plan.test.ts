import { defineSweep } from "../define-sweep.ts";
import { planCheckpointShape, planRestoreShape } from "../shapes/plan-checkpoint.ts";
import { planCleanupShape, planCommitShape, planUndoShape } from "../shapes/plan.ts";
import { SINGLE_FILE } from "../shapes/single-file.ts";

defineSweep(
  "a commit of two directories on two devices publishes all or nothing (R130, R219)",
  planCommitShape,
);
defineSweep("an undo of such a commit takes all of it back or nothing (R219)", planUndoShape);
defineSweep("a checkpoint of such a plan is kept whole or not at all (R207)", planCheckpointShape);
defineSweep("a restore of such a plan brings all back or nothing (R205, R207)", planRestoreShape);
defineSweep("a clean-up after such a commit can always be finished (R159)", planCleanupShape);

defineSweep("a commit of a directory and a single file publishes both or nothing", (template) =>
  planCommitShape(template, SINGLE_FILE),
);
defineSweep("an undo of those takes both back or nothing", (template) =>
  planUndoShape(template, SINGLE_FILE),
);
