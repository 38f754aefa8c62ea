import assert from "node:assert/strict";
import { afterAll, beforeAll, test } from "vitest";
import { removeFolder } from "../../support/remove-folder.ts";
import { pointsOf } from "../disturb.ts";
import { openGround } from "../ground.ts";
import { judgeGround } from "../judge-ground.ts";
import { planCommitShape, planUndoShape } from "../shapes/plan.ts";
import { type Template, makeTemplate } from "../tree.ts";
import { isOfSqlite } from "./sqlite.ts";
import { whileStopped } from "./stopped.ts";
import { allOrOne, tryEach } from "./try-each.ts";
import { useMixed } from "./use-mixed.ts";

const HOURS = 3_600_000;
const mixed = useMixed();
let template: Template;
beforeAll(() => {
  template = makeTemplate();
});
afterAll(() => removeFolder(template.folder));

for (const [what, shapeOf] of allOrOne(
  Object.entries({
    "a commit": planCommitShape,
    "an undo": planUndoShape,
  }),
)) {
  test(
    `a git that outlives the process of ${what}, and its recovery, changes nothing that is settled (R219)`,
    async () => {
      const { world } = mixed();
      const shape = shapeOf(template, world);
      const points = await pointsOf(shape);
      const ways = points.filter((point) => point.inChild && !isOfSqlite(point));
      const name = `a git that outlives the process of ${what}`;
      await tryEach({ name, ways, few: 1 }, (point) =>
        whileStopped(
          shape,
          () => Promise.resolve(point),
          async (ground, orphan) => {
            {
              await using coffer = await openGround(ground);
              const { recovery } = coffer.opening;
              assert.deepEqual(
                recovery?.transactions.map(({ error }) => error).filter((error) => error !== null),
                [],
              );
              assert.equal(recovery?.complete, true);
            }
            const settled = world.stateOf(ground);
            orphan.goOn();
            await orphan.result;
            assert.equal(world.stateOf(ground), settled);
            return judgeGround(shape.judge, { ground, told: null, ref: null, isBrief: true });
          },
          { sparesChildren: true },
        ),
      );
    },
    HOURS,
  );
}
