import assert from "node:assert/strict";
import { test } from "vitest";
import { filesIn } from "../files-in.ts";
import { openArena, planOver, playRounds, startContender } from "./arena.ts";

const MINUTES = 60_000;

test(
  "plans that share resources in opposite order neither wait for ever nor lose anything (R215)",
  async () => {
    await using arena = await openArena();
    await using left = await startContender(arena);
    await using right = await startContender(arena);
    const [one, two] = [arena.real("one"), arena.real("two")];
    const race = { name: "two plans on the same resources in opposite order", whole: 500, few: 6 };
    await playRounds(race, async ({ at, afterMs }) => {
      const plans = {
        left: await planOver(arena, `left-${at}`, { one, two }),
        right: await planOver(arena, `right-${at}`, { two, one }),
      };
      // In every other round both want the same file, of which only one can have it.
      const isConflict = at % 2 === 1;
      for (const [who, plan] of Object.entries(plans)) {
        const path = isConflict ? "both" : who;
        for (const id of ["one", "two"]) await plan.sandbox(id).write(path, `${who} ${at}`);
      }
      const said = await Promise.all([
        left.tell({ call: "commit", planId: plans.left.id, afterMs: afterMs() }),
        right.tell({ call: "commit", planId: plans.right.id, afterMs: afterMs() }),
      ]);
      const [first, second] = said;
      assert.deepEqual(filesIn(one), filesIn(two));
      const found = filesIn(one);
      if (isConflict) {
        const winner = first.outcome === "done" ? "left" : "right";
        const loser = first.outcome === "done" ? second : first;
        assert.deepEqual(loser, { outcome: "failed", code: "ATOMIC_COMMIT" });
        assert.equal(found["both"], `${winner} ${at}`);
      } else {
        assert.deepEqual(
          said.map(({ outcome }) => outcome),
          ["done", "done"],
        );
        assert.equal(found["left"], `left ${at}`);
        assert.equal(found["right"], `right ${at}`);
      }
      for (const plan of Object.values(plans)) await plan.cleanup();
    });
  },
  60 * MINUTES,
);
