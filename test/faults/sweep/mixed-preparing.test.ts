import { defineSweep } from "../define-sweep.ts";
import { useMixed } from "../mixed/use-mixed.ts";
import { planCommitShape, planUndoShape } from "../shapes/plan.ts";

const mixed = useMixed();

defineSweep(
  "a commit of a plan in which all kinds of members prepare publishes all or nothing (R130, R219)",
  (template) => planCommitShape(template, mixed().preparing),
  { sampled: 1, hasChildren: true },
);
defineSweep(
  "an undo of such a commit takes all of it back or nothing (R219)",
  (template) => planUndoShape(template, mixed().preparing),
  { sampled: 1, hasChildren: true },
);
