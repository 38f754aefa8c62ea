import { defineSweep } from "../define-sweep.ts";
import { checkpointShape, restoreShape } from "../shapes/sandbox.ts";
import { SUBJECTS } from "../subjects.ts";

for (const subject of Object.values(SUBJECTS)) {
  defineSweep(`${subject.name}: a checkpoint is kept whole or not at all (R204)`, (template) =>
    checkpointShape(subject, template),
  );
  defineSweep(
    `${subject.name}: a failed restore leaves the sandbox as it was (R17, R205)`,
    (template) => restoreShape(subject, template),
  );
}
