import { defineSweep } from "../define-sweep.ts";
import { createShape } from "../shapes/sandbox.ts";
import { SUBJECTS } from "../subjects.ts";

for (const subject of [SUBJECTS.layers, SUBJECTS.copy]) {
  defineSweep(`${subject.name}: a creation leaves a sandbox or nothing (R4)`, (template) =>
    createShape(subject, template),
  );
}
