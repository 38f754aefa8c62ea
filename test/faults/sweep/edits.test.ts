import { defineSweep } from "../define-sweep.ts";
import { discardShape, dropShape, viewShape, writeShape } from "../shapes/sandbox.ts";
import { SUBJECTS } from "../subjects.ts";

for (const subject of [SUBJECTS.layers, SUBJECTS.copy]) {
  defineSweep(
    `${subject.name}: a write leaves the whole old file or the whole new one`,
    (template) => writeShape(subject, template),
  );
}

for (const subject of [SUBJECTS.layers]) {
  defineSweep(
    `${subject.name}: a directory that was being opened can be opened again`,
    (template) => viewShape(subject, template),
  );
}

for (const subject of Object.values(SUBJECTS)) {
  defineSweep(`${subject.name}: a rollback throws all edits away or none (R37)`, (template) =>
    discardShape(subject, template),
  );
}

for (const subject of Object.values(SUBJECTS)) {
  defineSweep(`${subject.name}: edits that were being taken back can be taken back`, (template) =>
    dropShape(subject, template),
  );
}
