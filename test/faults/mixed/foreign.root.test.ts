import assert from "node:assert/strict";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git } from "../../strategies/git_worktree/checkout.ts";
import { run } from "../../strategies/shell.ts";
import type { StoppedRun } from "../../support/faults.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { pointsOf, toldBy } from "../disturb.ts";
import type { Ground } from "../ground.ts";
import { judgeGround } from "../judge-ground.ts";
import { outcomeOf, planCommitShape } from "../shapes/plan.ts";
import type { Ending } from "../shape.ts";
import { type Template, makeTemplate } from "../tree.ts";
import { placeOf } from "./repository.ts";
import { whileStopped } from "./stopped.ts";
import { allOrOne, tryEach } from "./try-each.ts";
import { type Mixed, useMixed } from "./use-mixed.ts";

const HOURS = 3_600_000;
const mixed = useMixed();
let template: Template;
beforeAll(() => {
  template = makeTemplate();
});
afterAll(() => removeFolder(template.folder));

/** What somebody else does: beside our edits, or to the same things. */
const FOREIGN = {
  "other things": { file: "theirs.txt", row: 2 },
  "the same things": { file: "a.txt", row: 1 },
} as const;

function commitOf(file: string): string {
  return `echo theirs > ${file}; git add ${file}; git commit -qm theirs`;
}

/** Commits in the user's checkout; null when git is kept out, which it must be where a lock says so. */
function commitForeign(root: string, file: string): string | null {
  const locked = "[ -e .git/index.lock ] || [ -e .git/refs/heads/main.lock ]";
  const tried = "if git commit -q --allow-empty -m theirs 2> /dev/null; then exit 1; fi; echo out";
  const said = run("sh", ["-euc", `if ${locked}; then ${tried}; else ${commitOf(file)}; fi`], root);
  return said.trim() === "out" ? null : git(root, "rev-parse", "HEAD");
}

/** Lets somebody else work while ours stands still, then go on: everything is old or everything is new, with theirs. */
async function workBeside(
  { directories, git: checkout, database }: Mixed,
  { file, row }: (typeof FOREIGN)[keyof typeof FOREIGN],
  stateBeside: (ground: Ground) => string,
  { ground, owner }: { readonly ground: Ground; readonly owner: StoppedRun },
): Promise<Ending> {
  const commit = commitForeign(placeOf(ground), file);
  const hasWritten = database.writeRow(ground, row);
  owner.goOn();
  const told = toldBy(await owner.result);
  assert.ok(told !== null);
  return judgeGround(
    () => {
      const states = [
        ...directories.map(({ stateOf }) => stateOf(ground)),
        commit === null ? checkout.stateOf(ground) : stateBeside(ground),
        hasWritten ? database.stateBeside(ground, row) : database.stateOf(ground),
      ];
      const isNew = outcomeOf(told) === "committed";
      assert.deepEqual(
        states,
        states.map(() => (isNew ? "edited" : "old")),
        `told ${outcomeOf(told)}, commit ${commit}, row ${hasWritten}`,
      );
      if (commit !== null) git(placeOf(ground), "merge-base", "--is-ancestor", commit, "HEAD");
      return Promise.resolve(isNew ? "new" : "old");
    },
    { ground, told, ref: null, isBrief: true },
  );
}

for (const [what, foreign] of allOrOne(Object.entries(FOREIGN))) {
  test(
    `a commit and a row of somebody else, of ${what}, at any call of a commit are never lost`,
    async () => {
      const shape = planCommitShape(template, mixed().world);
      const points = await pointsOf(shape);
      expect(points.length).toBeGreaterThan(0);
      const stateBeside = mixed().git.stateBeside(commitOf(foreign.file));
      await tryEach(
        { name: `a foreign commit and a foreign row, of ${what}`, ways: points, few: 1 },
        (point) =>
          whileStopped(
            shape,
            () => Promise.resolve(point),
            (ground, owner) => workBeside(mixed(), foreign, stateBeside, { ground, owner }),
          ),
      );
    },
    6 * HOURS,
  );
}
