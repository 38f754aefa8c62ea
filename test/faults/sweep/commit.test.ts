import { defineSweep } from "../define-sweep.ts";
import { commitShape } from "../shapes/resource.ts";
import { SUBJECTS } from "../subjects.ts";

for (const subject of Object.values(SUBJECTS)) {
  defineSweep(
    `${subject.name}: a commit publishes all or nothing and tells which (R26, R28)`,
    (template) => commitShape(subject, template),
  );
}
