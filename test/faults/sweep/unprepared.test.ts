import { defineSweep } from "../define-sweep.ts";
import { ledgerWorld } from "../shapes/ledger.ts";
import { planCommitShape, planUndoShape } from "../shapes/plan.ts";

for (const strategy of ["undoable-ledger", "deciding-ledger"] as const) {
  const world = ledgerWorld(strategy);
  defineSweep(`${world.name}: a commit publishes all or nothing (R130, R219)`, (template) =>
    planCommitShape(template, world),
  );
  defineSweep(`${world.name}: an undo takes all of it back or nothing (R219)`, (template) =>
    planUndoShape(template, world),
  );
}
