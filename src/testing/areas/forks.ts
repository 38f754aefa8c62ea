import assert from "node:assert/strict";
import { SandboxConflictError, UnsupportedStrategyError } from "../../index.ts";
import type { AreaRules } from "../area.ts";
import { rejectsWith, sameEntries } from "../assertions.ts";
import { EDITS } from "../edits.ts";
import { NO_FORKS, WITH_FORKS, WITH_PATH } from "../needs.ts";
import { snapshotOf } from "../snapshot.ts";
import { PLAN } from "../trial.ts";

/** The plan of the second sandbox. */
const FORK = "conformance-fork";

/** A second sandbox that begins with what the first one holds. */
export const FORKS: AreaRules = {
  name: "forks",
  rules: [
    {
      title: "begins with the exact present state: deletions, links, modes and empty folders",
      needs: [WITH_FORKS, WITH_PATH],
      prove: async (trial) => {
        const copy = await trial.plainCopy();
        await trial.runIn(copy, EDITS);
        const ref = await trial.create();
        await trial.run(ref, EDITS);
        const { digest } = await trial.strategy.diff(ref);
        const fork = await trial.fork(ref, FORK);
        sameEntries(await trial.workspace(fork), await snapshotOf(copy), "the fork");
        assert.equal((await trial.strategy.diff(fork)).digest, digest);
      },
    },
    {
      title: "begins with the state of a checkpoint, whatever was edited since",
      needs: [WITH_FORKS, WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(ref, "printf 'kept\\n' > a.txt; printf 'kept\\n' > kept.txt");
        await (await trial.cofferdam.plan(PLAN)).checkpoint("kept");
        await trial.run(ref, "rm kept.txt; printf 'later\\n' > a.txt");
        const fork = await trial.fork(ref, FORK, { from: "kept" });
        assert.equal(await trial.run(fork, "cat a.txt kept.txt"), "kept\nkept\n");
        assert.equal(await trial.readText(ref, "a.txt"), "later\n");
      },
    },
    {
      title: "goes its own way: no edit in one reaches the other",
      needs: [WITH_FORKS, WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(ref, "printf 'both\\n' > shared.txt; printf 'both\\n' > a.txt");
        const fork = await trial.fork(ref, FORK);
        await trial.run(ref, "printf X | dd of=shared.txt conv=notrunc status=none");
        await trial.run(fork, "printf Y | dd of=a.txt conv=notrunc status=none");
        assert.equal(await trial.run(fork, "cat shared.txt a.txt"), "both\nYoth\n");
        assert.equal(await trial.run(ref, "cat shared.txt a.txt"), "Xoth\nboth\n");
      },
    },
    {
      title: "finds what others changed since the first sandbox was made",
      needs: [WITH_FORKS],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "data.bin", "ours\n");
        await trial.runOutside("printf 'theirs\\n' > data.bin");
        const fork = await trial.fork(ref, FORK);
        const before = await trial.originalIdentities();
        await rejectsWith(SandboxConflictError, () => trial.strategy.commit(fork));
        sameEntries(await trial.originalIdentities(), before, "the resource after the refusal");
      },
    },
    {
      title: "makes the other one's edits of the same file a conflict when it commits, both ways",
      needs: [WITH_FORKS],
      prove: async (trial) => {
        for (const isFirst of [true, false]) {
          const ref = await trial.create(isFirst ? PLAN : `${PLAN}-again`);
          const fork = await trial.fork(ref, isFirst ? FORK : `${FORK}-again`);
          await trial.strategy.write(ref, "a.txt", `by the first, ${isFirst}\n`);
          await trial.strategy.write(fork, "a.txt", `by the fork, ${isFirst}\n`);
          const [committed, refused] = isFirst ? [ref, fork] : [fork, ref];
          await trial.strategy.commit(committed);
          const { data } = await rejectsWith(SandboxConflictError, () =>
            trial.strategy.commit(refused),
          );
          assert.deepEqual(
            data.conflicts.map(({ path }) => path),
            ["a.txt"],
          );
        }
      },
    },
    {
      title: "commits beside the other one's edits of other files",
      needs: [WITH_FORKS],
      prove: async (trial) => {
        const ref = await trial.create();
        const fork = await trial.fork(ref, FORK);
        await trial.strategy.write(ref, "docs/one.txt", "one\n");
        await trial.strategy.write(fork, "docs/two.txt", "two\n");
        await trial.strategy.commit(ref);
        await trial.strategy.commit(fork);
        const text = await trial.runOutside("cat docs/one.txt docs/two.txt");
        assert.equal(text, "one\ntwo\n");
      },
    },
    {
      title: "stays whole when the one that it was made from is cleaned up",
      needs: [WITH_FORKS, WITH_PATH],
      prove: async (trial) => {
        const copy = await trial.plainCopy();
        await trial.runIn(copy, EDITS);
        const ref = await trial.create();
        await trial.run(ref, EDITS);
        const fork = await trial.fork(ref, FORK);
        await trial.cleanup(ref);
        await trial.strategy.commit(fork);
        sameEntries(await trial.original(), await snapshotOf(copy), "the resource after commit");
      },
    },
    {
      title: "leaves the one that it was made from whole when it is cleaned up",
      needs: [WITH_FORKS, WITH_PATH],
      prove: async (trial) => {
        const copy = await trial.plainCopy();
        await trial.runIn(copy, EDITS);
        const ref = await trial.create();
        await trial.run(ref, EDITS);
        await trial.cleanup(await trial.fork(ref, FORK));
        await trial.strategy.commit(ref);
        sameEntries(await trial.original(), await snapshotOf(copy), "the resource after commit");
      },
    },
    {
      title: "leaves nothing when both are cleaned up, and never touches the resource",
      needs: [WITH_FORKS],
      prove: async (trial) => {
        // What the first sandbox of all leaves belongs to the installation.
        await trial.cleanup(await trial.create());
        const before = await trial.privateListing();
        const resource = await trial.originalIdentities();
        const ref = await trial.create();
        await trial.strategy.write(ref, "a.txt", "edit\n");
        const fork = await trial.fork(ref, FORK);
        await trial.strategy.write(fork, "a.txt", "another\n");
        await trial.cleanup(ref);
        await trial.cleanup(fork);
        sameEntries(await trial.originalIdentities(), resource, "the resource");
        assert.deepEqual(await trial.privateListing(), before);
        assert.deepEqual(trial.mounts(), []);
      },
    },
    {
      title: "is refused as unsupported by a strategy that cannot",
      needs: [NO_FORKS],
      prove: async (trial) => {
        await trial.create();
        const plan = await trial.cofferdam.plan(PLAN);
        await rejectsWith(UnsupportedStrategyError, () => plan.fork(FORK));
        assert.deepEqual(await trial.cofferdam.list(FORK), []);
      },
    },
  ],
};
