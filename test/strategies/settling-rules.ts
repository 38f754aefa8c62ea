import assert from "node:assert/strict";
import { describe as group, expect, it } from "vitest";
import { SandboxConflictError, SandboxPathError, type SandboxRef } from "../../src/index.ts";
import { type AreaRules, type Rule, bindArea } from "../../src/testing/area.ts";
import type { ConformanceSubject } from "../../src/testing/index.ts";
import { rejectsWith, sameEntries } from "../../src/testing/assertions.ts";
import { EDITED, EDITS } from "../../src/testing/edits.ts";
import type { Trial } from "../../src/testing/trial.ts";
import { CLASHES } from "../../src/testing/areas/conflicts.ts";

/** What is dropped one after the other after `EDITS`: files, links, folders, and the two ends of a rename. */
const DROPPED = [
  "a.txt",
  "bin",
  "data.bin",
  "deep",
  "docs/guide.md",
  "docs/empty",
  "link",
  "new/empty",
  "new",
  "private",
  "zero",
];

/** Taking single edits back, and settling conflicts path by path. */
const SETTLING: AreaRules = {
  name: "settling",
  rules: [
    {
      title: "takes each kind of edit back by itself, and all others stay",
      prove: async (trial) => {
        const ref = await trial.create();
        const before = await trial.workspace(ref);
        await trial.run(ref, EDITS);
        await dropOneByOne(trial, ref);
        sameEntries(await trial.workspace(ref), before, "the workspace");
      },
    },
    {
      title: "takes edits back that a checkpoint has kept, which keeps them",
      prove: async (trial) => {
        const ref = await trial.create();
        const before = await trial.workspace(ref);
        await trial.run(ref, EDITS);
        await trial.strategy.checkpoint(ref, "edited");
        const edited = await trial.workspace(ref);
        await dropOneByOne(trial, ref);
        sameEntries(await trial.workspace(ref), before, "the workspace");
        await trial.strategy.restoreCheckpoint(ref, "edited");
        sameEntries(await trial.workspace(ref), edited, "the restored workspace");
      },
    },
    {
      title: "brings one file of a deleted folder back, and commits the other deletions",
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(ref, "rm -r docs deep");
        await trial.strategy.drop!(ref, ["docs/guide.md", "deep/er"]);
        assert.equal(await trial.readText(ref, "docs/guide.md"), "# Guide\n");
        const { deleted } = await trial.strategy.commit(ref);
        assert.ok(deleted.includes("docs/other.md"), deleted.join());
        const left = await trial.runIn(trial.location, "find docs deep -type f | sort");
        assert.equal(left, "deep/er/leaf.txt\ndocs/guide.md\n");
      },
    },
    {
      title: "refuses to take back what has no edit, and takes nothing back then",
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(ref, "printf 'ours\\n' > a.txt");
        for (const path of ["docs", "data.bin", "no/such"]) {
          const { data } = await rejectsWith(SandboxPathError, () =>
            trial.strategy.drop!(ref, ["a.txt", path]),
          );
          assert.deepEqual([data.path, data.reason], [path, "unchanged"]);
        }
        assert.deepEqual(await changesOf(trial, ref), { "a.txt": "modified" });
      },
    },
    {
      title: "takes back to what others have made of it, and edits that again without a conflict",
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(ref, "printf 'ours\\n' > a.txt; rm -r docs");
        await trial.runIn(trial.location, "printf 'theirs\\n' | tee a.txt > docs/new.md");
        await trial.strategy.drop!(ref, ["a.txt", "docs"]);
        assert.deepEqual(await changesOf(trial, ref), {});
        assert.equal(await trial.readText(ref, "a.txt"), "theirs\n");
        assert.equal(await trial.readText(ref, "docs/new.md"), "theirs\n");
        await trial.strategy.write(ref, "a.txt", "theirs and ours\n");
        await trial.strategy.commit(ref);
        assert.equal(await trial.runIn(trial.location, "cat a.txt"), "theirs and ours\n");
      },
    },
    ...CLASHES.flatMap(({ what, ours, theirs, paths }): Rule[] => [
      {
        title: `publishes its own side once it is told to, where somebody ${what}`,
        prove: async (trial) => {
          const ref = await trial.create();
          await trial.run(ref, ours);
          const wanted = await trial.run(ref, describe(paths));
          await trial.runIn(trial.location, theirs);
          await rejectsWith(SandboxConflictError, () => trial.strategy.commit(ref));
          await trial.strategy.resolve!(ref, paths, "mine");
          await trial.strategy.commit(ref);
          assert.equal(await trial.runIn(trial.location, describe(paths)), wanted);
        },
      },
      {
        title: `leaves the other side once it is told to, where somebody ${what}`,
        prove: async (trial) => {
          const ref = await trial.create();
          await trial.run(ref, `${ours}; printf 'harmless\\n' > data.bin`);
          await trial.runIn(trial.location, theirs);
          const wanted = await trial.runIn(trial.location, describe(paths));
          await trial.cofferdam.sandbox(ref).resolve(paths, "theirs");
          await trial.strategy.commit(ref);
          const found = await trial.runIn(trial.location, `${describe(paths)} cat data.bin`);
          assert.equal(found, `${wanted}harmless\n`);
        },
      },
    ]),
    {
      title: "yields only where others have changed something",
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "a.txt", "ours\n");
        await trial.strategy.write(ref, "data.bin", "ours\n");
        await trial.runIn(trial.location, "printf 'theirs\\n' > a.txt");
        await trial.strategy.resolve!(ref, [""], "theirs");
        assert.deepEqual(await changesOf(trial, ref), { "data.bin": "modified" });
        await trial.strategy.commit(ref);
        assert.equal(await trial.runIn(trial.location, "cat a.txt data.bin"), "theirs\nours\n");
      },
    },
    {
      title: "is in conflict again with what others do after it was settled",
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "a.txt", "ours\n");
        await trial.runIn(trial.location, "printf 'theirs\\n' > a.txt");
        await trial.strategy.resolve!(ref, ["a.txt"], "mine");
        await trial.runIn(trial.location, "printf 'theirs again\\n' > a.txt");
        await rejectsWith(SandboxConflictError, () => trial.strategy.commit(ref));
        assert.equal(await trial.runIn(trial.location, "cat a.txt"), "theirs again\n");
      },
    },
    {
      title: "is in conflict again after a return to a state from before it was settled",
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "a.txt", "ours\n");
        await trial.strategy.checkpoint(ref, "before");
        await trial.runIn(trial.location, "printf 'theirs\\n' > a.txt");
        await trial.strategy.resolve!(ref, ["a.txt"], "mine");
        await trial.strategy.restoreCheckpoint(ref, "before");
        await rejectsWith(SandboxConflictError, () => trial.strategy.commit(ref));
        assert.equal(await trial.runIn(trial.location, "cat a.txt"), "theirs\n");
      },
    },
    {
      title: "gives back what others did when a commit over it is taken back",
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "a.txt", "ours\n");
        await trial.runIn(trial.location, "printf 'theirs\\n' > a.txt");
        await trial.strategy.resolve!(ref, ["a.txt"], "mine");
        await trial.strategy.commit(ref);
        await trial.cofferdam.sandbox(ref).undoCommit();
        assert.equal(await trial.runIn(trial.location, "cat a.txt"), "theirs\n");
        await trial.strategy.commit(ref);
        assert.equal(await trial.runIn(trial.location, "cat a.txt"), "ours\n");
      },
    },
  ],
};

/** Declares the tests of one subject; those of `leftOut` take something for granted that it does not have. */
export function testSettlingRules(
  subject: ConformanceSubject,
  leftOut: ReadonlySet<string> = new Set(),
): void {
  const { checks } = bindArea(SETTLING, subject);
  group(`settling in ${subject.name}`, () => {
    it("leaves out only rules that there are, and keeps some", () => {
      const titles = checks.map(({ title }) => title);
      expect([...leftOut].filter((title) => !titles.includes(title))).toEqual([]);
      expect(titles.length).toBeGreaterThan(leftOut.size);
    });
    for (const { title, run } of checks.filter((check) => !leftOut.has(check.title)))
      it(title, () => expect(run()).resolves.toBeUndefined());
  });
}

async function dropOneByOne(trial: Trial, ref: SandboxRef): Promise<void> {
  const left = new Map(Object.entries(EDITED));
  for (const path of DROPPED) {
    await trial.strategy.drop!(ref, [path]);
    for (const known of [...left.keys()]) {
      if (known === path || known.startsWith(`${path}/`)) left.delete(known);
    }
    assert.deepEqual(await changesOf(trial, ref), Object.fromEntries(left), `after ${path}`);
  }
  assert.deepEqual(await changesOf(trial, ref), {});
}

async function changesOf(trial: Trial, ref: SandboxRef): Promise<Record<string, string>> {
  const { changes } = await trial.strategy.diff(ref);
  return Object.fromEntries(changes.map(({ path, kind }) => [path, kind]));
}

/** A script that tells what is at each path, content, link or absence. */
function describe(paths: readonly string[]): string {
  return paths
    .map(
      (path) =>
        `stat -c '%n %F %N' ${path} 2>/dev/null || echo none; cat ${path} 2>/dev/null || :;`,
    )
    .join(" ");
}
