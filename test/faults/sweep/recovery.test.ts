import { defineSweep } from "../define-sweep.ts";
import { planCommitShape, planUndoShape } from "../shapes/plan.ts";
import { MOMENTS, recoveryShape } from "../shapes/recovery.ts";
import { commitShape, undoShape } from "../shapes/resource.ts";
import { SUBJECTS } from "../subjects.ts";

for (const moment of Object.values(MOMENTS)) {
  defineSweep(`recovery of ${moment.name} of a plan survives its own end (R220)`, (template) =>
    recoveryShape(
      moment,
      moment.of === "commit" ? planCommitShape(template) : planUndoShape(template),
    ),
  );
  for (const subject of [SUBJECTS.mounted, SUBJECTS.copy]) {
    defineSweep(
      `${subject.name}: recovery of ${moment.name} survives its own end (R220)`,
      (template) =>
        recoveryShape(
          moment,
          moment.of === "commit"
            ? commitShape(subject, template)
            : undoShape("rollback", subject, template),
        ),
    );
  }
}
