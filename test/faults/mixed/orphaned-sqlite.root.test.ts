import assert from "node:assert/strict";
import { afterAll, beforeAll, test } from "vitest";
import { removeFolder } from "../../support/remove-folder.ts";
import { pointsOf } from "../disturb.ts";
import { type Ground, openGround } from "../ground.ts";
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

/** Recovers while the process of SQLite stands still; whether it could, or has to wait for what that one holds. */
async function recover(ground: Ground): Promise<boolean> {
  await using coffer = await openGround(ground);
  const { recovery } = coffer.opening;
  assert.ok(recovery !== null);
  if (!recovery.complete) assert.equal((await coffer.interrupted()).transactions.length, 1);
  return recovery.complete;
}

for (const [what, shapeOf] of allOrOne(
  Object.entries({
    "a commit": planCommitShape,
    "an undo": planUndoShape,
  }),
)) {
  test(
    `a process of SQLite that outlives the process of ${what} decides for all, or comes too late for all (R219)`,
    async () => {
      const { world } = mixed();
      const shape = shapeOf(template, world);
      const ways = (await pointsOf(shape)).filter(isOfSqlite);
      const name = `a process of SQLite that outlives the process of ${what}`;
      await tryEach({ name, ways, few: 1 }, (point) =>
        whileStopped(
          shape,
          () => Promise.resolve(point),
          async (ground, orphan) => {
            const settled = (await recover(ground)) ? world.stateOf(ground) : null;
            orphan.goOn();
            await orphan.result;
            if (settled !== null) assert.equal(world.stateOf(ground), settled);
            return judgeGround(shape.judge, { ground, told: null, ref: null, isBrief: true });
          },
          { sparesChildren: true },
        ),
      );
    },
    6 * HOURS,
  );
}
