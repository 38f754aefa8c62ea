import assert from "node:assert/strict";
import { SandboxCommitError, SandboxStateError } from "../../index.ts";
import type { AreaRules } from "../area.ts";
import { rejectsWith, sameEntries } from "../assertions.ts";
import { EDITED, EDITS, SETTLE_TIMES } from "../edits.ts";
import { ISOLATED, WITH_CHECKPOINTS, WITH_PATH, WITH_TREE } from "../needs.ts";
import { snapshotOf } from "../snapshot.ts";
import { refusesToPrepare } from "./two-phase.ts";

/** Making the sandbox's state the real one. */
export const COMMIT: AreaRules = {
  name: "commit",
  rules: [
    {
      title: "tells exactly what it changed, added and deleted, and keeps the message (R9)",
      needs: [WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(ref, EDITS);
        const from = Date.now();
        const result = await trial.strategy.commit(ref, { message: "all kinds" });
        const paths = (wanted: (kind: string) => boolean): string[] =>
          Object.entries(EDITED).flatMap(([path, kind]) => (wanted(kind) ? [path] : []));
        assert.equal(result.success, true);
        assert.equal(result.noop, false);
        assert.equal(result.sandboxId, ref.sandboxId);
        assert.equal(result.strategyName, trial.strategyName);
        assert.deepEqual(
          result.added,
          paths((kind) => kind === "added"),
        );
        assert.deepEqual(
          result.deleted,
          paths((kind) => kind === "deleted"),
        );
        assert.deepEqual(
          result.changed,
          paths((kind) => kind !== "added" && kind !== "deleted"),
        );
        assert.equal(result.message, "all kinds");
        assert.equal(new Date(result.committedAt).toISOString(), result.committedAt);
        assert.ok(Date.parse(result.committedAt) >= from - 1, "the time is the time of the call");
        assert.equal(await trial.status(ref), "COMMITTED");
      },
    },
    {
      title: "makes the resource what the same programs make of a plain copy (R12)",
      needs: [WITH_PATH],
      prove: async (trial) => {
        const copy = await trial.plainCopy();
        await trial.runIn(copy, EDITS);
        const ref = await trial.create();
        await trial.run(ref, EDITS);
        await trial.strategy.commit(ref);
        sameEntries(await trial.original(), await snapshotOf(copy), "the resource after commit");
      },
    },
    {
      title: "removes from the resource what was removed in the sandbox (R12)",
      needs: [WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(ref, "rm -r a.txt deep docs/empty link-to-docs");
        await trial.strategy.commit(ref);
        const paths = [...(await trial.original()).keys()];
        const gone = ["a.txt", "deep", "deep/er", "deep/er/leaf.txt", "docs/empty", "link-to-docs"];
        assert.deepEqual(
          gone.filter((path) => paths.includes(path)),
          [],
        );
        assert.ok(paths.includes("docs/guide.md"), "the rest is there");
      },
    },
    {
      title: "publishes what `write` wrote, with the mode that the file had",
      needs: [WITH_TREE],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "bin/tool", "#!/bin/sh\necho new\n");
        await trial.strategy.write(ref, "x/y.txt", "new\n");
        await trial.strategy.commit(ref);
        const shown = await trial.runOutside("bin/tool; stat -c %a bin/tool; cat x/y.txt");
        assert.equal(shown, "new\n755\nnew\n");
      },
    },
    {
      title: "leaves entries alone that did not change, and keeps every folder that is there (R38)",
      needs: [ISOLATED, WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        const before = await trial.originalIdentities();
        await trial.run(ref, "printf 'x\\n' >> docs/guide.md; rm docs/other.md");
        await trial.strategy.commit(ref);
        const after = await trial.originalIdentities();
        const touched = [".", "docs", "docs/guide.md", "docs/other.md"];
        for (const path of [...before.keys()].filter((one) => !touched.includes(one))) {
          assert.equal(after.get(path), before.get(path), path);
        }
        for (const folder of [".", "docs"]) {
          assert.equal(inode(after.get(folder)), inode(before.get(folder)), folder);
        }
      },
    },
    {
      title: "does nothing for a sandbox without changes, and says so",
      prove: async (trial) => {
        const ref = await trial.create();
        const before = await trial.originalIdentities();
        const result = await trial.strategy.commit(ref);
        assert.equal(result.noop, true);
        assert.deepEqual([result.added, result.changed, result.deleted], [[], [], []]);
        sameEntries(await trial.originalIdentities(), before, "the resource after an empty commit");
        assert.equal(await trial.status(ref), "COMMITTED");
      },
    },
    {
      title: "refuses when the sandbox changed after it was reviewed",
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "b.txt", "reviewed\n");
        const { digest } = await trial.strategy.diff(ref);
        await trial.strategy.write(ref, "b.txt", "sneaked in\n");
        const before = await trial.originalIdentities();
        const error = await rejectsWith(SandboxCommitError, () =>
          trial.strategy.commit(ref, { expect: digest }),
        );
        assert.equal(error.data.originalRestored, true);
        sameEntries(await trial.originalIdentities(), before, "the resource after a refusal");
        assert.equal(await trial.status(ref), "ACTIVE");
        if (trial.capabilities.prepare) await refusesToPrepare(trial.unguarded, ref, digest);
        const reviewed = await trial.strategy.diff(ref);
        await trial.strategy.commit(ref, { expect: reviewed.digest });
        assert.equal(await trial.runOutside("cat b.txt"), "sneaked in\n");
      },
    },
    {
      title: "freezes the sandbox: no write, no path, no restore (R15)",
      needs: [ISOLATED, WITH_PATH, WITH_CHECKPOINTS],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.checkpoint(ref, "kept");
        await trial.strategy.write(ref, "a.txt", "committed\n");
        await trial.strategy.commit(ref);
        const before = await trial.originalIdentities();
        const attempts = [
          () => trial.strategy.write(ref, "a.txt", "too late\n"),
          () => trial.strategy.getPath!(ref),
          () => trial.strategy.restoreCheckpoint(ref, "kept"),
        ];
        for (const attempt of attempts) {
          const { data } = await rejectsWith(SandboxStateError, attempt);
          assert.equal(data.status, "COMMITTED");
        }
        sameEntries(await trial.originalIdentities(), before, "the resource after the refusals");
        assert.equal(await trial.readText(ref, "a.txt"), "committed\n");
      },
    },
    {
      title: "publishes a changed file that may only be read, with its mode",
      needs: [WITH_PATH],
      tree: { "read-only": { content: "old\n", mode: 0o400 }, "other.txt": "other\n" },
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(
          ref,
          "printf 'new\\n' > .new && chmod 400 .new && mv -f .new read-only; ln read-only link",
        );
        await trial.strategy.commit(ref);
        const shown = await trial.runOutside("cat read-only; stat -c '%a %h' read-only");
        assert.equal(shown, "new\n400 2\n");
      },
    },
    {
      title: "publishes names with spaces, quotes, newlines and a leading dash",
      needs: [WITH_PATH],
      prove: async (trial) => {
        const script = `
          for name in ' two  spaces ' "it's" 'back\\slash' 'new
line' '-rf' '*?[x]' '$HOME' ; do
            printf 'content of %s' "$name" > "./$name"
            mkdir -p "folder/$name"
          done
          ${SETTLE_TIMES}`;
        const copy = await trial.plainCopy();
        await trial.runIn(copy, script);
        const ref = await trial.create();
        await trial.run(ref, script);
        await trial.strategy.commit(ref);
        sameEntries(await trial.original(), await snapshotOf(copy), "the resource after commit");
      },
    },
  ],
};

function inode(identity: string | undefined): string | undefined {
  return identity?.split(" ")[0];
}
