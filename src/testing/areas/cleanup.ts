import assert from "node:assert/strict";
import type { SandboxRef } from "../../index.ts";
import type { AreaRules, Rule } from "../area.ts";
import { sameEntries } from "../assertions.ts";
import { EDITS } from "../edits.ts";
import { ISOLATED, type Need, UNDOABLE, WITH_CHECKPOINTS, WITH_PATH } from "../needs.ts";
import type { Trial } from "../trial.ts";

/** Lives of a sandbox that end in a clean-up. */
const LIVES: readonly {
  readonly what: string;
  readonly needs?: readonly Need[];
  live(trial: Trial, ref: SandboxRef): Promise<unknown>;
}[] = [
  { what: "was only made", live: () => Promise.resolve() },
  {
    what: "was written to",
    live: ({ strategy }, ref) => strategy.write(ref, "x/y.txt", "edit\n"),
  },
  {
    what: "was worked in by programs",
    needs: [WITH_PATH],
    live: (trial, ref) => trial.run(ref, EDITS),
  },
  {
    what: "has checkpoints",
    needs: [WITH_CHECKPOINTS],
    live: async ({ strategy }, ref) => {
      await strategy.checkpoint(ref, "one");
      await strategy.write(ref, "a.txt", "edit\n");
      await strategy.checkpoint(ref, "two");
      await strategy.restoreCheckpoint(ref, "one");
    },
  },
  {
    what: "was committed",
    live: async ({ strategy }, ref) => {
      await strategy.write(ref, "a.txt", "committed\n");
      await strategy.commit(ref);
    },
  },
  {
    what: "was rolled back",
    needs: [ISOLATED],
    live: async ({ strategy }, ref) => {
      await strategy.write(ref, "a.txt", "discarded\n");
      await strategy.rollback(ref);
    },
  },
  {
    what: "was committed and undone",
    needs: [UNDOABLE],
    live: async ({ strategy }, ref) => {
      await strategy.write(ref, "a.txt", "undone\n");
      await strategy.commit(ref);
      await strategy.rollback(ref);
    },
  },
];

/** Freeing everything. */
export const CLEANUP: AreaRules = {
  name: "cleanup",
  rules: LIVES.map(({ what, needs, live }): Rule => ({
    title: `frees everything of a sandbox that ${what}, also when called twice (R11)`,
    ...(needs !== undefined && { needs }),
    prove: async (trial) => {
      // The first sandbox of an installation makes folders that stay for the next.
      await trial.cleanup(await trial.create("first"));
      const privately = await trial.privateListing();
      const ref = await trial.create();
      await live(trial, ref);
      const before = await trial.originalIdentities();
      await trial.cleanup(ref);
      assert.deepEqual(await trial.privateListing(), privately);
      assert.deepEqual(trial.mounts(), []);
      await trial.strategy.cleanup(ref);
      assert.deepEqual(await trial.privateListing(), privately);
      sameEntries(await trial.originalIdentities(), before, "the resource after the clean-up");
    },
  })),
};
