import assert from "node:assert/strict";
import { test } from "vitest";
import { filesIn } from "../files-in.ts";
import { openArena, planOver, playRounds, startContender } from "./arena.ts";

const MINUTES = 60_000;

test(
  "two processes that commit the same plan at the same time apply it once (R211)",
  async () => {
    await using arena = await openArena();
    await using left = await startContender(arena);
    await using right = await startContender(arena);
    const [one, two] = [arena.real("one"), arena.real("two")];
    const race = { name: "two processes commit the same plan", whole: 200, few: 6 };
    await playRounds(race, async ({ at, afterMs }) => {
      const planId = `round-${at}`;
      const plan = await planOver(arena, planId, { one, two });
      for (const id of ["one", "two"]) await plan.sandbox(id).write("a", `round ${at}\n`);
      const before = await arena.coffer.history();
      const call = { call: "commit", planId } as const;
      const said = await Promise.all([
        left.tell({ ...call, afterMs: afterMs() }),
        right.tell({ ...call, afterMs: afterMs() }),
      ]);
      assert.deepEqual(
        said.map(({ outcome }) => outcome),
        ["done", "done"],
      );
      assert.deepEqual(new Set(said.map(({ order }) => order?.length)), new Set([0, 2]));
      assert.equal((await arena.coffer.history()).length, before.length + 1);
      for (const place of [one, two]) assert.deepEqual(filesIn(place), { a: `round ${at}\n` });
      await plan.cleanup();
    });
  },
  30 * MINUTES,
);
