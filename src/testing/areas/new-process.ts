import assert from "node:assert/strict";
import type { AreaRules } from "../area.ts";
import { sameEntries } from "../assertions.ts";
import { callInNewProcess } from "../new-process.ts";
import { ISOLATED, UNDOABLE, WITH_CHECKPOINTS } from "../needs.ts";

/** What survives the process: everything, by the ref and the disk alone. */
export const NEW_PROCESS: AreaRules = {
  name: "another process",
  rules: [
    {
      title: "reads, diffs and commits in a process that only got the ref (R3)",
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "a.txt", "by the first\n");
        await trial.strategy.write(ref, "new/b.txt", "new\n");
        const [content, diff, result] = await callInNewProcess(trial, ref, [
          ["read", "a.txt"],
          ["diff"],
          ["commit"],
        ]);
        assert.equal(content, Buffer.from("by the first\n").toString("base64"));
        const { changes } = diff as { changes: readonly { path: string }[] };
        assert.deepEqual(
          changes.map(({ path }) => path),
          trial.known({ "a.txt": "file", new: "directory", "new/b.txt": "file" }),
        );
        const { added, changed } = result as { added: unknown; changed: unknown };
        const made = trial.known({ new: "directory", "new/b.txt": "file" });
        assert.deepEqual([added, changed], [made, ["a.txt"]]);
        assert.equal(await trial.runOutside("cat a.txt new/b.txt"), "by the first\nnew\n");
        assert.equal(await trial.status(ref), "COMMITTED");
      },
    },
    {
      title: "takes a commit back in a process that only got the ref (R3)",
      needs: [UNDOABLE],
      prove: async (trial) => {
        const ref = await trial.create();
        const before = await trial.original();
        await trial.strategy.write(ref, "a.txt", "committed\n");
        await trial.strategy.commit(ref);
        await callInNewProcess(trial, ref, [["rollback"]]);
        sameEntries(await trial.original(), before, "the resource after the undo");
      },
    },
    {
      title: "restores a checkpoint in a process that only got the ref (R204)",
      needs: [WITH_CHECKPOINTS],
      prove: async (trial) => {
        const ref = await trial.create();
        await callInNewProcess(trial, ref, [
          ["write", "a.txt", "kept\n"],
          ["checkpoint", "kept"],
          ["write", "a.txt", "later\n"],
          ["die"],
        ]);
        await trial.strategy.restoreCheckpoint(ref, "kept");
        assert.equal(await trial.readText(ref, "a.txt"), "kept\n");
      },
    },
    {
      title: "rolls back and cleans up in a process that only got the ref (R3)",
      needs: [ISOLATED],
      prove: async (trial) => {
        await trial.cleanup(await trial.create("first"));
        const privately = await trial.privateListing();
        const ref = await trial.create();
        await trial.strategy.write(ref, "a.txt", "discarded\n");
        const [, diff] = await callInNewProcess(trial, ref, [["rollback"], ["diff"], ["cleanup"]]);
        assert.equal((diff as { isEmpty: boolean }).isEmpty, true);
        assert.deepEqual(await trial.privateListing(), privately);
      },
    },
  ],
};
