import { defineSweep } from "../define-sweep.ts";
import { useMixed } from "../mixed/use-mixed.ts";
import { planCheckpointShape, planRestoreShape } from "../shapes/plan-checkpoint.ts";
import { planCleanupShape, planCommitShape, planUndoShape } from "../shapes/plan.ts";

const mixed = useMixed();

defineSweep(
  "a commit of directories, a repository and databases publishes all or nothing (R130, R219)",
  (template) => planCommitShape(template, mixed().world),
  { sampled: 2, hasChildren: true },
);
defineSweep(
  "an undo of such a commit takes all of it back or nothing (R219)",
  (template) => planUndoShape(template, mixed().world),
  { sampled: 1, hasChildren: true },
);
defineSweep(
  "a checkpoint of such a plan is kept whole or not at all (R207)",
  (template) => planCheckpointShape(template, mixed().world),
  { sampled: 1 },
);
defineSweep(
  "a restore of such a plan brings all back or nothing (R207)",
  (template) => planRestoreShape(template, mixed().world),
  { sampled: 1, hasChildren: true },
);
defineSweep(
  "a clean-up after such a commit can always be finished (R159)",
  (template) => planCleanupShape(template, mixed().world),
  { sampled: 1 },
);
