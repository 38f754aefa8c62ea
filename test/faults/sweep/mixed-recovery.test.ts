import { defineSweep } from "../define-sweep.ts";
import { allOrOne } from "../mixed/try-each.ts";
import { useMixed } from "../mixed/use-mixed.ts";
import { planCommitShape, planUndoShape } from "../shapes/plan.ts";
import { MOMENTS, type Moment, recoveryShape } from "../shapes/recovery.ts";

const mixed = useMixed();
const moments: readonly Moment[] = Object.values(MOMENTS);

for (const moment of allOrOne(moments)) {
  defineSweep(
    `recovery of ${moment.name} of directories, a repository and databases survives its own end (R220)`,
    (template) => {
      const shapeOf = moment.of === "commit" ? planCommitShape : planUndoShape;
      return recoveryShape(moment, shapeOf(template, mixed().world));
    },
    { sampled: 1, hasChildren: true },
  );
}
