import { execFileSync } from "node:child_process";
import { statSync, statfsSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { git } from "../../strategies/git_worktree/checkout.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { PLAN, openGround } from "../ground.ts";
import { type Template, makeTemplate } from "../tree.ts";
import { placeOf } from "./repository.ts";
import { useMixed } from "./use-mixed.ts";

const PAGE = 4096;
const MOST = 64;
const mixed = useMixed();
let template: Template;
beforeAll(() => {
  template = makeTemplate();
});
afterAll(() => removeFolder(template.folder));

/** Puts the objects of a repository on a small file system of their own; gives the file that fills it. */
function fillObjects(root: string): string {
  const objects = join(root, ".git/objects");
  execFileSync("cp", ["-a", objects, `${objects}-kept`]);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", objects]);
  execFileSync("sh", ["-euc", 'cp -a "$0-kept/." "$0"; rm -r "$0-kept"', objects]);
  const { bavail, bsize } = statfsSync(objects);
  writeFileSync(join(objects, "filler"), Buffer.alloc(bavail * bsize));
  return join(objects, "filler");
}

test("a commit without enough room for the objects of git is refused with nothing half, however little is missing (R142)", async () => {
  const { world } = mixed();
  const ground = world.make(template);
  onTestFinished(() => removeFolder(ground.folder));
  await using coffer = await openGround(ground);
  await world.edit(ground, coffer);
  const plan = await coffer.plan(PLAN);
  const { digest } = await plan.diff();
  const filler = fillObjects(placeOf(ground));
  const full = statSync(filler).size;
  let room = 0;
  const attempt = async (): Promise<unknown> => {
    try {
      return (await plan.commit()).outcome;
    } catch (error) {
      return error;
    }
  };
  for (let found = await attempt(); found !== "committed"; found = await attempt()) {
    expect(found).toMatchObject({
      code: "ATOMIC_COMMIT",
      data: { report: { outcome: "aborted", failedId: "git" } },
    });
    expect(world.stateOf(ground)).toBe("old");
    expect(ground.elsewhere?.unsettled()).toEqual([]);
    expect(await coffer.interrupted()).toMatchObject({ transactions: [], sandboxes: [] });
    expect((await plan.diff()).digest).toBe(digest);
    room += 1;
    expect(room).toBeLessThan(MOST);
    truncateSync(filler, full - room * PAGE);
  }
  expect(room).toBeGreaterThan(1);
  expect(world.stateOf(ground)).toBe("edited");
  expect(ground.elsewhere?.unsettled()).toEqual([]);
  await plan.undo();
  expect(world.stateOf(ground)).toBe("old");
  git(placeOf(ground), "fsck", "--strict");
}, 600_000);
