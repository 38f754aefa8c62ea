import assert from "node:assert/strict";
import {
  type Json,
  SandboxCommitError,
  SandboxConflictError,
  SandboxRollbackError,
  type SandboxStrategy,
  type TransactionPart,
} from "../../index.ts";
import { refusesToPrepare } from "../areas/two-phase.ts";
import { rejectsWith } from "../assertions.ts";
import { TWO_PHASE, UNDOABLE } from "../needs.ts";
import type { DatabaseRules } from "./rule.ts";
import { EDITED_ROWS, FIRST_ROWS, rowName } from "./trial.ts";

const THEIRS = "UPDATE notes SET line = 'theirs' WHERE id = ";

/** Making the sandbox's rows the real ones, and back. */
export const DATABASE_COMMITS: DatabaseRules = {
  name: "commits",
  rules: [
    {
      title: "publishes the edits and tells every row of them",
      prove: async (trial) => {
        const ref = await trial.edited();
        const { added, changed, deleted, noop, message } = await trial.strategy.commit(ref, {
          message: "all kinds",
        });
        assert.deepEqual(await trial.rows(), EDITED_ROWS);
        const names = [added, changed, deleted].map((paths) => paths.map(rowName));
        assert.deepEqual(names, [["notes/4"], ["notes/1"], ["notes/2"]]);
        assert.deepEqual([noop, message], [false, "all kinds"]);
      },
    },
    {
      title: "does nothing for a sandbox without edits, and says so",
      prove: async (trial) => {
        const { noop } = await trial.strategy.commit(await trial.create());
        assert.equal(noop, true);
        assert.deepEqual(await trial.rows(), FIRST_ROWS);
      },
    },
    {
      title: "refuses when the sandbox changed after it was reviewed",
      prove: async (trial) => {
        const ref = await trial.edited();
        const { digest } = await trial.strategy.diff(ref);
        await trial.strategy.write(ref, "more.sql", "DELETE FROM notes WHERE id = 3");
        await rejectsWith(SandboxCommitError, () => trial.strategy.commit(ref, { expect: digest }));
        if (trial.capabilities(ref).prepare) await refusesToPrepare(trial.unguarded, ref, digest);
        assert.deepEqual(await trial.rows(), FIRST_ROWS);
      },
    },
    {
      title: "never publishes over a row that somebody else changed",
      prove: async (trial) => {
        const ref = await trial.edited();
        await trial.session.sql(`${THEIRS}1`);
        const { data } = await rejectsWith(SandboxConflictError, () => trial.strategy.commit(ref));
        assert.deepEqual(
          data.conflicts.map(({ path }) => rowName(path)),
          ["notes/1"],
        );
        assert.deepEqual(await trial.rows(), ["1|theirs", "2|two", "3|three"]);
      },
    },
    {
      title: "publishes beside other rows that somebody else changed",
      prove: async (trial) => {
        const ref = await trial.edited();
        await trial.session.sql(`${THEIRS}3`);
        await trial.strategy.commit(ref);
        assert.deepEqual(await trial.rows(), ["1|ONE", "3|theirs", "4|four"]);
      },
    },
    {
      title: "takes a commit back and keeps the edits, which can be committed again",
      needs: [UNDOABLE],
      prove: async (trial) => {
        const ref = await trial.edited();
        await trial.strategy.commit(ref);
        await trial.strategy.undoCommit?.(ref);
        assert.deepEqual(await trial.rows(), FIRST_ROWS);
        await trial.strategy.commit(ref);
        assert.deepEqual(await trial.rows(), EDITED_ROWS);
      },
    },
    {
      title: "takes nothing back where somebody changed a row since",
      needs: [UNDOABLE],
      prove: async (trial) => {
        const ref = await trial.edited();
        await trial.strategy.commit(ref);
        await trial.session.sql(`${THEIRS}4`);
        await rejectsWith(SandboxRollbackError, async () => trial.strategy.undoCommit?.(ref));
        assert.deepEqual(await trial.rows(), ["1|ONE", "3|three", "4|theirs"]);
      },
    },
    {
      title:
        "prepares without publishing, and is abandoned or committed then, however often it is told",
      needs: [TWO_PHASE],
      prove: async (trial) => {
        const ref = await trial.edited();
        const raw = trial.unguarded as Required<SandboxStrategy>;
        const part = partOf("01K0CONFORMANCE00000000000");
        await raw.prepare(ref, part);
        assert.deepEqual(await trial.rows(), FIRST_ROWS);
        await raw.abandonPrepared(ref, part);
        await raw.abandonPrepared(ref, part);
        assert.deepEqual(await trial.rows(), FIRST_ROWS);
        const next = partOf("01K0CONFORMANCE00000000001");
        const record = JSON.parse(JSON.stringify(await raw.prepare(ref, next))) as Json;
        await raw.fence(ref, { ...next, record });
        await raw.commitPrepared(ref, { ...next, record });
        await raw.commitPrepared(ref, { ...next, record });
        assert.deepEqual(await trial.rows(), EDITED_ROWS);
        assert.deepEqual(await trial.session.leftovers(), []);
      },
    },
    {
      title: "frees everything, and leaves what was committed",
      prove: async (trial) => {
        const ref = await trial.edited();
        await trial.strategy.commit(ref);
        await trial.cleanup(ref);
        assert.deepEqual(await trial.rows(), EDITED_ROWS);
        assert.deepEqual(await trial.session.leftovers(), []);
      },
    },
  ],
};

/** A transaction of the check's own making. */
function partOf(ulid: string): TransactionPart {
  return { gid: `coffer1:kit:${ulid}`, ulid, member: 0, kind: "commit", record: null };
}
