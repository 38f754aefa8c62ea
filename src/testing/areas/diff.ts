import assert from "node:assert/strict";
import type { AreaRules } from "../area.ts";
import { sameEntries } from "../assertions.ts";
import { EDITED, EDITS } from "../edits.ts";
import { WITH_PATH } from "../needs.ts";
import { SAMPLE_TREE } from "../sample-tree.ts";
import { octal } from "../octal.ts";

/** What a commit would do, told without doing anything. */
export const DIFF: AreaRules = {
  name: "diff",
  rules: [
    {
      title: "is empty for a sandbox that nobody touched (R8)",
      tree: {
        ...SAMPLE_TREE,
        "odd/read-only": { content: "x", mode: 0o400 },
        "odd/closed": { directory: true, mode: 0o700 },
        "odd/absolute": { link: "/nowhere/at/all" },
        "odd/pipe": { fifo: true },
      },
      prove: async (trial) => {
        const ref = await trial.create();
        const view = await trial.strategy.diff(ref);
        assert.deepEqual(view.changes, []);
        assert.equal(view.isEmpty, true);
        assert.equal(view.sandboxId, ref.sandboxId);
        assert.equal(await view.text(), "");
        assert.equal(await trial.status(ref), "CREATED");
      },
    },
    {
      title: "is empty for a sandbox whose directory was only looked at (R8)",
      needs: [WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(ref, "find . -type f -exec cat {} + > /dev/null; ls -lR > /dev/null");
        assert.deepEqual((await trial.strategy.diff(ref)).changes, []);
      },
    },
    {
      title: "tells every kind of edit that a program can make, sorted by path (R12)",
      needs: [WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(ref, EDITS);
        const { changes } = await trial.strategy.diff(ref);
        assert.deepEqual(
          changes.map(({ path, kind }) => [path, kind]),
          Object.entries(EDITED),
        );
      },
    },
    {
      title: "tells both sides of a change: type, size, mode and link text",
      needs: [WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(ref, EDITS);
        const { changes } = await trial.strategy.diff(ref);
        const sides = new Map(changes.map(({ path, before, after }) => [path, { before, after }]));
        const { before: mode, after: newMode } = sides.get("private") ?? {};
        assert.deepEqual([octal(mode?.mode), octal(newMode?.mode)], ["600", "640"]);
        const link = sides.get("link");
        assert.deepEqual([link?.before?.target, link?.after?.target], ["a.txt", "docs"]);
        const deep = sides.get("deep");
        assert.deepEqual([deep?.before?.type, deep?.after?.type], ["directory", "file"]);
        assert.equal(sides.get("a.txt")?.after?.size, "alpha\nbeta\ngamma\ndelta\n".length);
      },
    },
    {
      title: "changes nothing and says the same when asked again (R8)",
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "a.txt", "changed\n");
        await trial.strategy.write(ref, "new/file.txt", "new\n");
        const original = await trial.originalIdentities();
        const status = await trial.status(ref);
        const { text: _1, ...first } = await trial.strategy.diff(ref);
        const { text: _2, ...second } = await trial.strategy.diff(ref);
        assert.deepEqual(second, first);
        sameEntries(await trial.originalIdentities(), original, "the resource after two diffs");
        assert.equal(await trial.readText(ref, "a.txt"), "changed\n");
        assert.equal(await trial.status(ref), status);
      },
    },
    {
      title: "leaves the workspace alone (R8)",
      needs: [WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(ref, EDITS);
        const before = await trial.workspace(ref);
        await trial.strategy.diff(ref);
        sameEntries(await trial.workspace(ref), before, "the workspace after a diff");
      },
    },
    {
      title: "forgets a change that was taken back by hand",
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "docs/guide.md", "changed\n");
        await trial.strategy.write(ref, "docs/guide.md", "# Guide\n");
        const kinds = (await trial.strategy.diff(ref)).changes.map(({ kind }) => kind);
        assert.ok(!kinds.includes("modified"), "equal content is not a modification");
      },
    },
    {
      title: "has a digest that stands for exactly these changes",
      prove: async (trial) => {
        const ref = await trial.create();
        const digest = async (): Promise<string> => (await trial.strategy.diff(ref)).digest;
        await trial.strategy.write(ref, "b.txt", "one\n");
        const one = await digest();
        await trial.strategy.write(ref, "b.txt", "two\n");
        const two = await digest();
        assert.notEqual(one, two);
        await trial.strategy.write(ref, "b.txt", "one\n");
        assert.equal(await digest(), one);
      },
    },
    {
      title: "shows the lines that differ as text",
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "b.txt", "brand new line\n");
        const text = await (await trial.strategy.diff(ref)).text();
        assert.ok(text.includes("b.txt"), "the text names the file");
        assert.ok(text.split("\n").includes("+brand new line"), "the text has the new line");
      },
    },
  ],
};
