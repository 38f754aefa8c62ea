import { defineSweep } from "../define-sweep.ts";
import { MOMENTS, recoveryShape } from "../shapes/recovery.ts";
import { SUBJECTS } from "../subjects.ts";

for (const moment of Object.values(MOMENTS)) {
  for (const subject of [SUBJECTS.mounted, SUBJECTS.copy]) {
    defineSweep(
      `${subject.name}: recovery of ${moment.name} survives its own end (R220)`,
      (template) => recoveryShape(moment, subject, template),
    );
  }
}
