import { defineSweep } from "../define-sweep.ts";
import { undoShape } from "../shapes/resource.ts";
import { SUBJECTS } from "../subjects.ts";

for (const subject of Object.values(SUBJECTS)) {
  for (const operation of ["rollback", "undoCommit"] as const) {
    defineSweep(
      `${subject.name}: ${operation} takes a commit back whole or not at all (R37, R177)`,
      (template) => undoShape(operation, subject, template),
    );
  }
}
