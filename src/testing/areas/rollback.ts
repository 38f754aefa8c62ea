import assert from "node:assert/strict";
import { SandboxRollbackError } from "../../index.ts";
import type { AreaRules } from "../area.ts";
import { rejectsWith, sameEntries } from "../assertions.ts";
import { EDITED, EDITS, MORE_EDITS } from "../edits.ts";
import { IN_PLACE, ISOLATED, UNDOABLE, WITH_PATH } from "../needs.ts";
import { snapshotOf } from "../snapshot.ts";
import type { Trial } from "../trial.ts";

/** Discarding edits, and going on afterwards. */
export const ROLLBACK: AreaRules = {
  name: "rollback and cycles",
  rules: [
    {
      title: "discards every edit and leaves the resource alone (R10)",
      needs: [ISOLATED, WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        const before = await trial.originalIdentities();
        await trial.run(ref, EDITS);
        await trial.strategy.rollback(ref);
        assert.equal(await trial.status(ref), "ROLLED_BACK");
        assert.deepEqual((await trial.strategy.diff(ref)).changes, []);
        sameEntries(await trial.workspace(ref), await trial.original(), "the workspace");
        sameEntries(await trial.originalIdentities(), before, "the resource after a rollback");
      },
    },
    {
      title: "discards what `write` wrote (R10)",
      needs: [ISOLATED],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "a.txt", "edit\n");
        await trial.strategy.rollback(ref);
        assert.equal(await trial.readText(ref, "a.txt"), "alpha\nbeta\ngamma\n");
        assert.ok((await trial.strategy.diff(ref)).isEmpty, "the diff is empty");
      },
    },
    {
      title: "is possible before any edit (R10)",
      needs: [ISOLATED],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.rollback(ref);
        assert.equal(await trial.status(ref), "ROLLED_BACK");
        assert.ok((await trial.strategy.diff(ref)).isEmpty, "the diff is empty");
      },
    },
    {
      title: "shows the resource as it is by then, with what others changed meanwhile",
      needs: [ISOLATED],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "a.txt", "edit\n");
        await trial.runOutside("printf 'theirs\\n' > a.txt; rm zero");
        await trial.strategy.rollback(ref);
        assert.equal(await trial.readText(ref, "a.txt"), "theirs\n");
        assert.ok((await trial.strategy.diff(ref)).isEmpty, "the diff is empty");
        await trial.strategy.write(ref, "a.txt", "on top of theirs\n");
        await trial.strategy.commit(ref);
        assert.equal(await trial.runOutside("cat a.txt"), "on top of theirs\n");
      },
    },
    {
      title: "is refused where edits took effect at once, in every status (R100)",
      needs: [IN_PLACE],
      prove: async (trial) => {
        const ref = await trial.create();
        const refused = async (): Promise<void> => {
          const status = await trial.status(ref);
          const { data } = await rejectsWith(SandboxRollbackError, () =>
            trial.strategy.rollback(ref),
          );
          assert.equal(data.reason, "notUndoable");
          assert.equal(await trial.status(ref), status);
        };
        await refused();
        await trial.strategy.write(ref, "a.txt", "in place\n");
        await refused();
        await trial.strategy.commit(ref);
        await refused();
        assert.equal(await trial.runOutside("cat a.txt"), "in place\n");
      },
    },
    {
      title: "allows whole further cycles after discarded edits (R14)",
      needs: [ISOLATED, UNDOABLE, WITH_PATH],
      prove: (trial) => cycle(trial, "discard"),
    },
    {
      title: "allows whole further cycles after an undone commit (R14)",
      needs: [ISOLATED, UNDOABLE, WITH_PATH],
      prove: (trial) => cycle(trial, "undo"),
    },
  ],
};

/** Three rounds of edit, diff, commit and undo, each after a rollback of the given kind. */
async function cycle(trial: Trial, kind: "discard" | "undo"): Promise<void> {
  const before = await trial.original();
  const copies = { first: await trial.plainCopy(), second: await trial.plainCopy() };
  await trial.runIn(copies.first, EDITS);
  await trial.runIn(copies.second, MORE_EDITS);
  const ref = await trial.create();
  for (let round = 0; round < 3; round++) {
    const [other, own] = round % 2 === 0 ? [MORE_EDITS, EDITS] : [EDITS, MORE_EDITS];
    await trial.run(ref, other);
    if (kind === "undo") await trial.strategy.commit(ref);
    await trial.strategy.rollback(ref);
    sameEntries(await trial.original(), before, `the resource before round ${round}`);
    await trial.run(ref, own);
    const { changes } = await trial.strategy.diff(ref);
    if (own === EDITS) {
      assert.deepEqual(
        changes.map(({ path }) => path),
        Object.keys(EDITED),
      );
    }
    await trial.strategy.commit(ref);
    const expected = own === EDITS ? copies.first : copies.second;
    sameEntries(await trial.original(), await snapshotOf(expected), `round ${round}, committed`);
    await trial.strategy.rollback(ref);
    sameEntries(await trial.original(), before, `round ${round}, undone`);
  }
}
