import assert from "node:assert/strict";
import { SandboxError } from "../../index.ts";
import { rejectsWith } from "../assertions.ts";
import { callInNewProcess } from "../new-process.ts";
import { WITH_CHECKPOINTS, WITH_COPIES, WITH_FORKS } from "../needs.ts";
import type { DatabaseRules } from "./rule.ts";
import { ALL_ROWS, EDIT, EDITED_ROWS, FIRST_ROWS, rowsOf } from "./trial.ts";

/** Who sees an edit, and what is told of it. */
export const DATABASE_EDITS: DatabaseRules = {
  name: "edits",
  rules: [
    {
      title: "shows edits to the sandbox and to nobody else",
      prove: async (trial) => {
        const ref = await trial.edited();
        assert.deepEqual(await trial.rowsIn(ref), EDITED_ROWS);
        assert.deepEqual(await trial.rows(), FIRST_ROWS);
      },
    },
    {
      title: "keeps the sandboxes of two plans apart",
      prove: async (trial) => {
        const [one, two] = [await trial.create("one"), await trial.create("two")];
        await trial.strategy.write(one, "edit.sql", EDIT);
        assert.deepEqual(await trial.rowsIn(two), FIRST_ROWS);
        assert.deepEqual(await trial.rowsIn(one), EDITED_ROWS);
      },
    },
    {
      title: "takes a script as a whole: one that fails half way changes nothing",
      prove: async (trial) => {
        const ref = await trial.create();
        const script = `${EDIT}; INSERT INTO notes VALUES (3, 'twice')`;
        await rejectsWith(SandboxError, () => trial.strategy.write(ref, "edit.sql", script));
        assert.deepEqual(await trial.rowsIn(ref), FIRST_ROWS);
      },
    },
    {
      title: "tells each changed row by its key",
      prove: async (trial) => {
        const ref = await trial.edited();
        assert.deepEqual(await trial.changes(ref), [
          "notes/1 modified",
          "notes/2 deleted",
          "notes/4 added",
        ]);
      },
    },
    {
      title: "tells no change where a row became what it was",
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "a.sql", "UPDATE notes SET line = 'x' WHERE id = 1");
        await trial.strategy.write(ref, "b.sql", "UPDATE notes SET line = 'one' WHERE id = 1");
        assert.deepEqual(await trial.changes(ref), []);
      },
    },
    {
      title: "forgets the edits when it is rolled back, and shows the database as it is now",
      prove: async (trial) => {
        const ref = await trial.edited();
        await trial.session.sql("INSERT INTO notes VALUES (9, 'theirs')");
        await trial.strategy.rollback(ref);
        assert.deepEqual(await trial.rowsIn(ref), [...FIRST_ROWS, "9|theirs"]);
        assert.deepEqual(await trial.changes(ref), []);
      },
    },
    {
      title: "brings a kept state back, also an older one and the newer one again",
      needs: [WITH_CHECKPOINTS],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.checkpoint(ref, "first");
        await trial.strategy.write(ref, "edit.sql", EDIT);
        await trial.strategy.checkpoint(ref, "second");
        await trial.strategy.write(ref, "more.sql", "DELETE FROM notes");
        await trial.strategy.restoreCheckpoint(ref, "first");
        assert.deepEqual(await trial.rowsIn(ref), FIRST_ROWS);
        await trial.strategy.restoreCheckpoint(ref, "second");
        assert.deepEqual(await trial.rowsIn(ref), EDITED_ROWS);
      },
    },
    {
      title: "makes a second sandbox with the same edits, which goes its own way",
      needs: [WITH_FORKS],
      prove: async (trial) => {
        const ref = await trial.edited();
        const forked = await trial.fork(ref, "second");
        assert.deepEqual(await trial.rowsIn(forked), EDITED_ROWS);
        await trial.strategy.write(forked, "more.sql", "DELETE FROM notes");
        assert.deepEqual(await trial.rowsIn(ref), EDITED_ROWS);
      },
    },
    {
      title: "goes on in another process that knows nothing but the ref",
      prove: async (trial) => {
        const ref = await trial.edited();
        const more = "INSERT INTO notes VALUES (5, 'five')";
        const [, told] = await callInNewProcess(trial, ref, [
          ["write", "more.sql", more],
          ["read", ALL_ROWS],
        ]);
        const rows = [...EDITED_ROWS, "5|five"];
        assert.deepEqual(rowsOf(Buffer.from(told as string, "base64")), rows);
        assert.deepEqual(await trial.rowsIn(ref), rows);
      },
    },
    {
      title: "takes what a command did by its own client, and keeps it from the real database",
      needs: [WITH_COPIES],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "first.sql", "DELETE FROM notes WHERE id = 2");
        const plan = await trial.session.cofferdam.plan(ref.planId);
        const statements =
          "UPDATE notes SET line = 'ONE' WHERE id = 1; INSERT INTO notes VALUES (4, 'four')";
        const { exitCode, unreached } = await plan.run(trial.session.command(statements), {
          cwd: "/",
          stdio: ["ignore", "ignore", "inherit"],
        });
        assert.deepEqual([exitCode, unreached], [0, []]);
        assert.deepEqual(await trial.rows(), FIRST_ROWS);
        assert.deepEqual(await trial.rowsIn(ref), EDITED_ROWS);
        assert.deepEqual(await trial.session.leftovers(), []);
      },
    },
  ],
};
