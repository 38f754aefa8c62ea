import assert from "node:assert/strict";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git } from "../../strategies/git_worktree/checkout.ts";
import { run } from "../../strategies/shell.ts";
import type { StoppedRun } from "../../support/faults.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { pointsOf, toldBy } from "../disturb.ts";
import type { Ground } from "../ground.ts";
import { judgeGround } from "../judge-ground.ts";
import type { Told } from "../order.ts";
import { outcomeOf, planCommitShape, planUndoShape } from "../shapes/plan.ts";
import { faultSettings } from "../settings.ts";
import type { Ending } from "../shape.ts";
import { type Template, type TreeState, makeTemplate } from "../tree.ts";
import { placeOf } from "./repository.ts";
import { whileStopped } from "./stopped.ts";
import { allOrOne, tryEach } from "./try-each.ts";
import { DATABASES, type Mixed, useMixed } from "./use-mixed.ts";

const HOURS = 3_600_000;
const mixed = useMixed();
let template: Template;
beforeAll(() => {
  template = makeTemplate();
});
afterAll(() => removeFolder(template.folder));

const PLACES = ["git", ...DATABASES] as const;
type Place = (typeof PLACES)[number];

/** What somebody else does, and where: beside our edits, or to the same things, where no two can hide each other. */
interface Foreign {
  readonly what: string;
  readonly file: string;
  readonly row: number;
  readonly places: readonly Place[];
}

const FOREIGN: readonly Foreign[] = [
  { what: "other things everywhere", file: "theirs.txt", row: 2, places: PLACES },
  ...PLACES.map((place) => ({
    what: `the same things in ${place}`,
    file: "a.txt",
    row: 1,
    places: [place],
  })),
];

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

/** Lets somebody else work while ours stands still; gives how every member is judged then, and the commit of theirs. */
function workBeside(
  { members, databases }: Mixed,
  { file, row, places }: Foreign,
  stateOfGit: (ground: Ground) => TreeState,
  ground: Ground,
): { readonly states: () => readonly TreeState[]; readonly commit: string | null } {
  const commit = places.includes("git") ? commitForeign(placeOf(ground), file) : null;
  const judges = new Map(members.map(({ id, stateOf }) => [id, () => stateOf(ground)]));
  if (commit !== null) judges.set("git", () => stateOfGit(ground));
  for (const name of DATABASES) {
    const { writeRow, stateBeside } = databases[name];
    if (places.includes(name) && writeRow(ground, row))
      judges.set(name, () => stateBeside(ground, row));
  }
  return { states: () => [...judges.values()].map((judge) => judge()), commit };
}

/** An operation that others disturb. */
interface Disturbed {
  readonly name: string;
  readonly shapeOf: typeof planCommitShape;
  /** What everything must be, by what was told. */
  readonly wanted: (told: Told) => TreeState;
}

const DISTURBED: readonly Disturbed[] = [
  {
    name: "a commit",
    shapeOf: planCommitShape,
    wanted: (told) =>
      ["committed", "committed-pending"].includes(outcomeOf(told)) ? "edited" : "old",
  },
  {
    name: "an undo",
    shapeOf: planUndoShape,
    wanted: ({ outcome }) => (outcome === "done" ? "old" : "edited"),
  },
];

/** Ours goes on: everything is old or everything is new, with theirs. */
async function goOnBeside(
  { states, commit }: ReturnType<typeof workBeside>,
  { ground, owner }: { readonly ground: Ground; readonly owner: StoppedRun },
  wanted: Disturbed["wanted"],
): Promise<Ending> {
  owner.goOn();
  const told = toldBy(await owner.result);
  assert.ok(told !== null);
  return judgeGround(
    () => {
      const found = states();
      assert.deepEqual(
        found,
        found.map(() => wanted(told)),
        `told ${JSON.stringify(told)}, commit ${commit}`,
      );
      if (commit !== null) git(placeOf(ground), "merge-base", "--is-ancestor", commit, "HEAD");
      return Promise.resolve(wanted(told) === "edited" ? "new" : "old");
    },
    { ground, told, ref: null, isBrief: true },
  );
}

/** Each of the foreign changes at every call; or, with `--only "in turn"`, at every call the next one of them. */
const IN_TURN = "in turn";
const settings = faultSettings();
const rows = settings.only === IN_TURN ? [FOREIGN] : FOREIGN.map((foreign) => [foreign]);
const ways = DISTURBED.flatMap((disturbed) => rows.map((row) => ({ disturbed, row })));
for (const { disturbed, row } of allOrOne(ways)) {
  const { name, shapeOf, wanted } = disturbed;
  const where = row.length === 1 ? row.map(({ what }) => what).join("") : `all of these ${IN_TURN}`;
  test(
    `what somebody else does at any call of ${name} to ${where} is never lost`,
    async () => {
      const shape = shapeOf(template, mixed().world);
      const points = await pointsOf(shape);
      expect(points.length).toBeGreaterThan(0);
      const beside = new Map(
        row.map((foreign) => [foreign, mixed().git.stateBeside(commitOf(foreign.file))]),
      );
      const title = `foreign changes to ${where} in ${name}`;
      await tryEach({ name: title, ways: points, few: 1 }, (point) => {
        const [foreign, stateOfGit] = [...beside][(point.at + settings.seed) % beside.size] ?? [];
        assert.ok(foreign !== undefined && stateOfGit !== undefined);
        return whileStopped(
          shape,
          () => Promise.resolve(point),
          (ground, owner) =>
            goOnBeside(workBeside(mixed(), foreign, stateOfGit, ground), { ground, owner }, wanted),
        );
      });
    },
    6 * HOURS,
  );
}
