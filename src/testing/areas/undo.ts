import assert from "node:assert/strict";
import { SandboxRollbackError } from "../../index.ts";
import type { AreaRules } from "../area.ts";
import { rejectsWith, sameEntries } from "../assertions.ts";
import { EDITS } from "../edits.ts";
import { ISOLATED, NOT_UNDOABLE, UNDOABLE, WITH_PATH } from "../needs.ts";

/** Taking a commit back. */
export const UNDO: AreaRules = {
  name: "undo",
  rules: [
    {
      title: "makes the resource what it was before the commit, times included (R10, R33)",
      needs: [UNDOABLE, WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        const before = await trial.original();
        await trial.run(ref, EDITS);
        await trial.strategy.commit(ref);
        await trial.strategy.rollback(ref);
        sameEntries(await trial.original(), before, "the resource after the undo");
        assert.equal(await trial.status(ref), "ROLLED_BACK");
      },
    },
    {
      title: "removes files and folders that the commit had added",
      needs: [UNDOABLE],
      prove: async (trial) => {
        const ref = await trial.create();
        const before = await trial.original();
        await trial.strategy.write(ref, "new/folder/file.txt", "new\n");
        await trial.strategy.commit(ref);
        await trial.strategy.rollback(ref);
        sameEntries(await trial.original(), before, "the resource after the undo");
      },
    },
    {
      title: "resets the workspace, so that the next commit publishes only new edits (R34)",
      needs: [UNDOABLE, WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(ref, EDITS);
        await trial.strategy.commit(ref);
        await trial.strategy.rollback(ref);
        assert.ok((await trial.strategy.diff(ref)).isEmpty, "the diff is empty");
        assert.equal(await trial.readText(ref, "docs/guide.md"), "# Guide\n");
        sameEntries(await trial.workspace(ref), await trial.original(), "the workspace");
        await trial.run(ref, "printf 'second\\n' > second.txt");
        const result = await trial.strategy.commit(ref);
        assert.deepEqual([result.added, result.changed, result.deleted], [["second.txt"], [], []]);
      },
    },
    {
      title: "leaves entries alone that the commit did not touch (R38)",
      needs: [UNDOABLE],
      prove: async (trial) => {
        const ref = await trial.create();
        const before = await trial.originalIdentities();
        await trial.strategy.write(ref, "docs/guide.md", "changed\n");
        await trial.strategy.commit(ref);
        await trial.strategy.rollback(ref);
        const after = await trial.originalIdentities();
        for (const path of before.keys()) {
          if (path.startsWith("docs")) continue;
          assert.equal(after.get(path), before.get(path), path);
        }
      },
    },
    {
      title: "refuses when somebody changed a committed file since, and names it (R42)",
      needs: [UNDOABLE],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "a.txt", "committed\n");
        await trial.strategy.write(ref, "docs/guide.md", "committed\n");
        await trial.strategy.commit(ref);
        await trial.runOutside("printf 'by somebody else\\n' >> a.txt");
        const before = await trial.originalIdentities();
        const { data } = await rejectsWith(SandboxRollbackError, () =>
          trial.strategy.rollback(ref),
        );
        assert.equal(data.reason, "foreignEdits");
        assert.deepEqual(data.paths, ["a.txt"]);
        sameEntries(await trial.originalIdentities(), before, "the resource after the refusal");
        assert.equal(await trial.status(ref), "COMMITTED");
      },
    },
    {
      title: "keeps edits that others made elsewhere since the commit",
      needs: [UNDOABLE],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "a.txt", "committed\n");
        await trial.strategy.commit(ref);
        await trial.runOutside("printf 'theirs\\n' > docs/theirs.md");
        await trial.strategy.rollback(ref);
        assert.equal(
          await trial.runOutside("cat a.txt docs/theirs.md"),
          "alpha\nbeta\ngamma\ntheirs\n",
        );
      },
    },
    {
      title: "has nothing to do after a commit without changes",
      needs: [UNDOABLE],
      prove: async (trial) => {
        const ref = await trial.create();
        const before = await trial.originalIdentities();
        await trial.strategy.commit(ref);
        await trial.strategy.rollback(ref);
        sameEntries(await trial.originalIdentities(), before, "the resource after the undo");
        assert.equal(await trial.status(ref), "ROLLED_BACK");
      },
    },
    {
      title: "is refused by a strategy that cannot do it; the commit stays (R10)",
      needs: [NOT_UNDOABLE],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "a.txt", "committed\n");
        await trial.strategy.commit(ref);
        const before = await trial.originalIdentities();
        const { data } = await rejectsWith(SandboxRollbackError, () =>
          trial.strategy.rollback(ref),
        );
        assert.equal(data.reason, "notUndoable");
        assert.equal(await trial.status(ref), "COMMITTED");
        sameEntries(await trial.originalIdentities(), before, "the resource after the refusal");
      },
    },
    {
      title: "keeps the edits when only the commit is taken back, for another attempt",
      needs: [UNDOABLE, ISOLATED],
      prove: async (trial) => {
        const ref = await trial.create();
        const before = await trial.original();
        await trial.strategy.write(ref, "a.txt", "again\n");
        await trial.strategy.write(ref, "new.txt", "new\n");
        await trial.strategy.commit(ref);
        await trial.strategy.undoCommit!(ref);
        sameEntries(await trial.original(), before, "the resource after the undo");
        assert.equal(await trial.status(ref), "ACTIVE");
        const { changes } = await trial.strategy.diff(ref);
        assert.deepEqual(
          changes.map(({ path, kind }) => [path, kind]),
          [
            ["a.txt", "modified"],
            ["new.txt", "added"],
          ],
        );
        await trial.strategy.commit(ref);
        assert.equal(await trial.runOutside("cat a.txt new.txt"), "again\nnew\n");
      },
    },
  ],
};
