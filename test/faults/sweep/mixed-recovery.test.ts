import { defineSweep } from "../define-sweep.ts";
import { useMixed } from "../mixed/use-mixed.ts";
import { faultSettings } from "../settings.ts";
import { planCommitShape, planUndoShape } from "../shapes/plan.ts";
import { MOMENTS, type Moment, recoveryShape } from "../shapes/recovery.ts";

const mixed = useMixed();
const { all, seed } = faultSettings();
const moments: readonly Moment[] = Object.values(MOMENTS);
/** A sample has one of them in each run. */
const chosen = all ? moments : moments.slice(seed % moments.length).slice(0, 1);

for (const moment of chosen) {
  defineSweep(
    `recovery of ${moment.name} of directories, a repository and databases survives its own end (R220)`,
    (template) => {
      const shapeOf = moment.of === "commit" ? planCommitShape : planUndoShape;
      return recoveryShape(moment, shapeOf(template, mixed().world));
    },
    { sampled: 1, hasChildren: true },
  );
}
