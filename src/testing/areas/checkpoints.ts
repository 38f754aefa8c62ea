import assert from "node:assert/strict";
import { CheckpointError, SandboxStateError } from "../../index.ts";
import type { AreaRules } from "../area.ts";
import { rejectsWith, sameEntries } from "../assertions.ts";
import { EDITS, MORE_EDITS } from "../edits.ts";
import { ISOLATED, NO_CHECKPOINTS, WITH_CHECKPOINTS, WITH_PATH } from "../needs.ts";
import { snapshotOf } from "../snapshot.ts";

const MALFORMED = ["", "../x", "/etc/passwd", "a/b", "nul\0byte", ".", "..", "x".repeat(10_000)];

/** Keeping a state and going back to it. */
export const CHECKPOINTS: AreaRules = {
  name: "checkpoints",
  rules: [
    {
      title: "brings the exact state back: deletions, links, modes and empty folders (R198)",
      needs: [WITH_CHECKPOINTS, WITH_PATH],
      prove: async (trial) => {
        const copy = await trial.plainCopy();
        await trial.runIn(copy, EDITS);
        const ref = await trial.create();
        await trial.run(ref, EDITS);
        await trial.strategy.checkpoint(ref, "kept");
        await trial.run(ref, MORE_EDITS);
        await trial.strategy.restoreCheckpoint(ref, "kept");
        sameEntries(await trial.workspace(ref), await snapshotOf(copy), "the restored workspace");
      },
    },
    {
      title: "keeps a state apart from what is written into the same files later (R198)",
      needs: [WITH_CHECKPOINTS, WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(ref, "printf 'kept\\n' > new.txt; printf 'kept\\n' > a.txt");
        await trial.strategy.checkpoint(ref, "kept");
        await trial.run(
          ref,
          "printf 'in place\\n' >> new.txt; printf X | dd of=a.txt conv=notrunc",
        );
        await trial.strategy.restoreCheckpoint(ref, "kept");
        assert.equal(await trial.run(ref, "cat new.txt a.txt"), "kept\nkept\n");
      },
    },
    {
      title: "restores several states in any order and loses none (R199)",
      needs: [WITH_CHECKPOINTS],
      prove: async (trial) => {
        const ref = await trial.create();
        for (const id of ["one", "two", "three"]) {
          await trial.strategy.write(ref, "a.txt", `${id}\n`);
          await trial.strategy.write(ref, `${id}.txt`, "new\n");
          await trial.strategy.checkpoint(ref, id);
        }
        const files = { one: ["one"], two: ["one", "two"], three: ["one", "three", "two"] };
        for (const id of ["one", "three", "two", "one"] as const) {
          await trial.strategy.restoreCheckpoint(ref, id);
          assert.equal(await trial.readText(ref, "a.txt"), `${id}\n`);
          const { changes } = await trial.strategy.diff(ref);
          assert.deepEqual(
            changes.map(({ path }) => path),
            ["a.txt", ...files[id].map((name) => `${name}.txt`)],
          );
        }
      },
    },
    {
      title: "restores the state before any edit, and the diff is empty then (R198)",
      needs: [WITH_CHECKPOINTS, WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.checkpoint(ref, "clean");
        await trial.run(ref, EDITS);
        await trial.strategy.restoreCheckpoint(ref, "clean");
        assert.deepEqual((await trial.strategy.diff(ref)).changes, []);
        sameEntries(await trial.workspace(ref), await trial.original(), "the workspace");
      },
    },
    {
      title: "never touches the resource (R201)",
      needs: [WITH_CHECKPOINTS, ISOLATED, WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        const before = await trial.originalIdentities();
        await trial.run(ref, EDITS);
        await trial.strategy.checkpoint(ref, "kept");
        await trial.run(ref, MORE_EDITS);
        await trial.strategy.restoreCheckpoint(ref, "kept");
        sameEntries(await trial.originalIdentities(), before, "the resource");
      },
    },
    {
      title: "commits exactly the restored state (R209)",
      needs: [WITH_CHECKPOINTS, WITH_PATH],
      prove: async (trial) => {
        const copy = await trial.plainCopy();
        await trial.runIn(copy, EDITS);
        const ref = await trial.create();
        await trial.run(ref, EDITS);
        await trial.strategy.checkpoint(ref, "kept");
        await trial.run(ref, MORE_EDITS);
        await trial.strategy.restoreCheckpoint(ref, "kept");
        await trial.strategy.commit(ref);
        sameEntries(await trial.original(), await snapshotOf(copy), "the resource after commit");
      },
    },
    {
      title: "can still be restored after the commit was taken back",
      needs: [WITH_CHECKPOINTS, ISOLATED],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "a.txt", "kept\n");
        await trial.strategy.checkpoint(ref, "kept");
        await trial.strategy.write(ref, "a.txt", "later\n");
        await trial.strategy.rollback(ref);
        await trial.strategy.restoreCheckpoint(ref, "kept");
        assert.equal(await trial.readText(ref, "a.txt"), "kept\n");
        await trial.strategy.commit(ref);
        assert.equal(await trial.runOutside("cat a.txt"), "kept\n");
      },
    },
    {
      title: "refuses unknown, duplicate and malformed ids (R200)",
      needs: [WITH_CHECKPOINTS],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.checkpoint(ref, "kept");
        const reasonOf = async (call: () => Promise<unknown>): Promise<string> =>
          (await rejectsWith(CheckpointError, call)).data.reason;
        const { strategy } = trial;
        assert.equal(await reasonOf(() => strategy.checkpoint(ref, "kept")), "duplicate");
        assert.equal(await reasonOf(() => strategy.restoreCheckpoint(ref, "other")), "unknown");
        const privately = await trial.privateListing();
        for (const id of MALFORMED) {
          assert.equal(await reasonOf(() => strategy.checkpoint(ref, id)), "malformed");
          await reasonOf(() => strategy.restoreCheckpoint(ref, id));
        }
        assert.deepEqual(await trial.privateListing(), privately);
      },
    },
    {
      title: "are possible before any edit and after a rollback; a restore makes it active (R206)",
      needs: [WITH_CHECKPOINTS, ISOLATED],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.checkpoint(ref, "created");
        assert.equal(await trial.status(ref), "CREATED");
        await trial.strategy.restoreCheckpoint(ref, "created");
        assert.equal(await trial.status(ref), "ACTIVE");
        await trial.strategy.write(ref, "a.txt", "edit\n");
        await trial.strategy.rollback(ref);
        await trial.strategy.checkpoint(ref, "rolled-back");
        assert.equal(await trial.status(ref), "ROLLED_BACK");
        await trial.strategy.restoreCheckpoint(ref, "rolled-back");
        assert.equal(await trial.status(ref), "ACTIVE");
        await trial.strategy.commit(ref);
        for (const call of [
          () => trial.strategy.checkpoint(ref, "late"),
          () => trial.strategy.restoreCheckpoint(ref, "created"),
        ]) {
          await rejectsWith(SandboxStateError, call);
        }
      },
    },
    {
      title: "are refused as unsupported by a strategy that keeps none (R203)",
      needs: [NO_CHECKPOINTS],
      prove: async (trial) => {
        const ref = await trial.create();
        for (const call of [
          () => trial.strategy.checkpoint(ref, "kept"),
          () => trial.strategy.restoreCheckpoint(ref, "kept"),
        ]) {
          const { data } = await rejectsWith(CheckpointError, call);
          assert.equal(data.reason, "unsupported");
        }
      },
    },
  ],
};
