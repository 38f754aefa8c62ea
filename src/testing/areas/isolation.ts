import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AreaRules } from "../area.ts";
import { sameEntries } from "../assertions.ts";
import { EDITS } from "../edits.ts";
import { IN_PLACE, ISOLATED, WITH_PATH } from "../needs.ts";
import { SAMPLE_TREE } from "../sample-tree.ts";

/** Who sees an edit, and when. */
export const ISOLATION: AreaRules = {
  name: "isolation",
  rules: [
    {
      title: "keeps writes away from the resource (R6)",
      needs: [ISOLATED],
      prove: async (trial) => {
        const ref = await trial.create();
        const before = await trial.original();
        await trial.strategy.write(ref, "a.txt", "changed\n");
        await trial.strategy.write(ref, "new/folder/file.txt", "new\n");
        sameEntries(await trial.original(), before, "the resource after writes");
      },
    },
    {
      title: "keeps edits by programs away from the resource (R12)",
      needs: [ISOLATED, WITH_PATH],
      tree: { ...SAMPLE_TREE, "shared/file": "shared\n" },
      prove: async (trial) => {
        const ref = await trial.create();
        const before = await trial.original();
        await trial.run(ref, `${EDITS}\nprintf 'in place\\n' >> shared/file`);
        sameEntries(await trial.original(), before, "the resource after a program's edits");
      },
    },
    {
      title: "keeps the sandboxes of two plans apart",
      needs: [ISOLATED],
      prove: async (trial) => {
        const [one, two] = [await trial.create("one"), await trial.create("two")];
        await trial.strategy.write(one, "a.txt", "by one\n");
        await trial.strategy.write(two, "b.txt", "by two\n");
        assert.equal(await trial.readText(one, "a.txt"), "by one\n");
        assert.equal(await trial.readText(two, "a.txt"), "alpha\nbeta\ngamma\n");
        const changed = async (ref: typeof one): Promise<string[]> =>
          (await trial.strategy.diff(ref)).changes.map(({ path }) => path);
        assert.deepEqual(await changed(one), ["a.txt"]);
        assert.deepEqual(await changed(two), ["b.txt"]);
      },
    },
    {
      title: "writes into the resource itself and says so (R99)",
      needs: [IN_PLACE],
      prove: async (trial) => {
        const ref = await trial.create();
        assert.equal(ref.metadata["isolation"], "none");
        await trial.strategy.write(ref, "a.txt", "at once\n");
        assert.equal(await readFile(join(trial.location, "a.txt"), "utf8"), "at once\n");
      },
    },
    {
      title: "gives the resource itself as the path (R99)",
      needs: [IN_PLACE, WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        assert.equal((await trial.run(ref, "pwd -P")).trim(), trial.location);
      },
    },
  ],
};
