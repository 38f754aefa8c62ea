import { defineSweep } from "../define-sweep.ts";
import { cleanupShape } from "../shapes/sandbox.ts";
import { SUBJECTS } from "../subjects.ts";

for (const subject of Object.values(SUBJECTS)) {
  for (const of of ["edits", "commit"] as const) {
    defineSweep(
      `${subject.name}: a clean-up after ${of} can always be finished (R11)`,
      (template) => cleanupShape(of, subject, template),
    );
  }
}
