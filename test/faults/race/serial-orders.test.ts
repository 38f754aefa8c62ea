import assert from "node:assert/strict";
import { test } from "vitest";
import { filesIn } from "../files-in.ts";
import { type Arena, openArena, planOver, playRounds, startContender } from "./arena.ts";
import type { Contest, Said } from "./contest.ts";

const MINUTES = 60_000;

/** What is called beside a commit of the same plan. */
const BESIDE = {
  rollback: () => ({ call: "rollback" }),
  cleanup: () => ({ call: "cleanup" }),
  write: () => ({ call: "write", id: "two", path: "late", content: "late\n" }),
  create: (place) => ({
    call: "create",
    resource: {
      id: "three",
      type: "fs-directory",
      location: place,
      sandboxStrategy: "copy_on_write",
    },
  }),
} as const satisfies Record<string, (place: string) => Partial<Contest>>;

test.each(Object.keys(BESIDE) as (keyof typeof BESIDE)[])(
  "a commit of a plan beside a %s of the same plan ends as one after the other would (R210)",
  async (beside) => {
    await using arena = await openArena();
    await using left = await startContender(arena);
    await using right = await startContender(arena);
    const commitFirst = await play(arena, "first", beside, async (commit, other) => [
      await left.tell(commit),
      await right.tell(other),
    ]);
    const commitLast = await play(arena, "last", beside, async (commit, other) => {
      const said = await right.tell(other);
      return [await left.tell(commit), said];
    });
    const race = { name: `commit beside ${beside} of the same plan`, whole: 100, few: 3 };
    await playRounds(race, async ({ at, afterMs }) => {
      const found = await play(arena, `round-${at}`, beside, (commit, other) =>
        Promise.all([
          left.tell({ ...commit, afterMs: afterMs() }),
          right.tell({ ...other, afterMs: afterMs() }),
        ]),
      );
      assert.ok(
        [commitFirst, commitLast].includes(found),
        `${found}\nis neither\n${commitFirst}\nnor\n${commitLast}`,
      );
    });
  },
  30 * MINUTES,
);

/** One commit and one other call on a fresh plan; gives everything that came of it, without names. */
async function play(
  arena: Arena,
  name: string,
  beside: keyof typeof BESIDE,
  run: (commit: Contest, other: Contest) => Promise<[Said, Said]>,
): Promise<string> {
  const [one, two, three] = ["one", "two", "three"].map((id) => arena.real(`${name}-${id}`));
  assert.ok(one !== undefined && two !== undefined && three !== undefined);
  const plan = await planOver(arena, name, { one, two });
  for (const id of ["one", "two"]) await plan.sandbox(id).write("a", "new\n");
  const [commit, other] = await run(
    { planId: name, afterMs: 0, call: "commit" },
    { planId: name, afterMs: 0, ...BESIDE[beside](three) },
  );
  const listed = await arena.coffer.list(name);
  const statuses = listed.map(({ ref, status }) => [ref.resourceId, status]);
  const files = [one, two, three].map(filesIn);
  if (listed.length > 0) await plan.cleanup({ force: true });
  return JSON.stringify({ commit, other, statuses, files });
}
