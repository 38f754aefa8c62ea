import assert from "node:assert/strict";
import { SandboxConflictError } from "../../index.ts";
import type { AreaRules, Rule } from "../area.ts";
import { rejectsWith, sameEntries } from "../assertions.ts";
import { ISOLATED, WITH_PATH } from "../needs.ts";

/** What the sandbox and somebody else do to the same place, and the paths in conflict then. */
export const CLASHES: readonly {
  readonly what: string;
  readonly ours: string;
  readonly theirs: string;
  readonly paths: readonly string[];
}[] = [
  {
    what: "edited a file that the sandbox edits",
    ours: "printf 'ours\\n' > a.txt",
    theirs: "printf 'theirs\\n' > a.txt",
    paths: ["a.txt"],
  },
  {
    what: "edited a file that the sandbox deletes",
    ours: "rm a.txt",
    theirs: "printf 'theirs\\n' >> a.txt",
    paths: ["a.txt"],
  },
  {
    what: "deleted a file that the sandbox edits",
    ours: "printf 'ours\\n' > a.txt",
    theirs: "rm a.txt",
    paths: ["a.txt"],
  },
  {
    what: "moved the folder around a file that the sandbox edits",
    ours: "printf 'ours\\n' > deep/er/leaf.txt",
    theirs: "mv deep elsewhere",
    paths: ["deep/er/leaf.txt"],
  },
  {
    what: "made a file that the sandbox makes too",
    ours: "printf 'ours\\n' > new.txt",
    theirs: "printf 'theirs\\n' > new.txt",
    paths: ["new.txt"],
  },
  {
    what: "changed the mode of a file that the sandbox edits",
    ours: "printf 'ours\\n' > a.txt",
    theirs: "chmod 600 a.txt",
    paths: ["a.txt"],
  },
  {
    what: "retargeted a link that the sandbox retargets",
    ours: "ln -sfn docs link",
    theirs: "ln -sfn private link",
    paths: ["link"],
  },
];

/** Edits by others between creation and commit. */
export const CONFLICTS: AreaRules = {
  name: "conflicts",
  rules: [
    ...CLASHES.map(({ what, ours, theirs, paths }): Rule => ({
      title: `refuses before anything moves when somebody ${what} (R43)`,
      needs: [ISOLATED, WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(ref, `${ours}; printf 'harmless\\n' > docs/guide.md`);
        await trial.runOutside(theirs);
        const before = await trial.originalIdentities();
        const { data } = await rejectsWith(SandboxConflictError, () => trial.strategy.commit(ref));
        assert.deepEqual(leavesOf(data.conflicts.map(({ path }) => path)), paths);
        assert.equal(data.originalRestored, true);
        sameEntries(await trial.originalIdentities(), before, "the resource");
        assert.equal(await trial.status(ref), "ACTIVE");
        assert.equal(await trial.readText(ref, "docs/guide.md"), "harmless\n");
      },
    })),
    {
      title: "commits beside edits that others made elsewhere, which survive (R43)",
      needs: [ISOLATED],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "a.txt", "ours\n");
        await trial.runOutside("printf 'theirs\\n' > docs/other.md; rm zero");
        const result = await trial.strategy.commit(ref);
        assert.deepEqual([result.added, result.changed, result.deleted], [[], ["a.txt"], []]);
        const shown = await trial.runOutside("cat a.txt docs/other.md; ls");
        assert.ok(shown.startsWith("ours\ntheirs\n"), shown);
        assert.ok(!shown.includes("zero"), "what others deleted stays deleted");
      },
    },
    {
      title: "commits after the sandbox was rolled back onto the other edits",
      needs: [ISOLATED],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "a.txt", "ours\n");
        await trial.runOutside("printf 'theirs\\n' > a.txt");
        await rejectsWith(SandboxConflictError, () => trial.strategy.commit(ref));
        await trial.strategy.rollback(ref);
        await trial.strategy.write(ref, "a.txt", "ours after theirs\n");
        await trial.strategy.commit(ref);
        assert.equal(await trial.runOutside("cat a.txt"), "ours after theirs\n");
      },
    },
  ],
};

/** The paths without the folders on the way to others of them, which a strategy may name too. */
function leavesOf(paths: readonly string[]): string[] {
  return paths.filter((path) => !paths.some((other) => other.startsWith(`${path}/`)));
}
