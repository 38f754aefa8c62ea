import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makePlace, openPlace, shell } from "../../faults/place.ts";

const TREE = `mkdir -p app/sub app2; echo one > app/a; echo two > app/sub/b; echo three > app2/c
ln -s app link; mkdir bound boundSub`;
const DIRECTORY = "fs-directory";
const FILE = "fs-file";

it.each([
  ["a directory inside another", "app", "app/sub", DIRECTORY],
  ["a directory around another", "app/sub", "app", DIRECTORY],
  ["a file inside a directory", "app", "app/sub/b", FILE],
  ["a file that is to be made inside a directory", "app", "app/new", FILE],
  ["the same directory under another id", "app", "app/.", DIRECTORY],
  ["the same directory through a link", "app", "link", DIRECTORY],
  ["something inside it through a link", "app", "link/sub", DIRECTORY],
  ["the same directory through a bind mount", "app", "bound", DIRECTORY],
  ["a directory around another through a bind mount", "app/sub", "bound", DIRECTORY],
  ["a folder of another that is bound elsewhere", "app", "boundSub", DIRECTORY],
])("refuses %s in one plan, and keeps what the plan has (R127)", async (_, first, second, type) => {
  const place = makePlace(TREE);
  const at = (name: string): string => join(place.real, name);
  execFileSync("mount", ["--bind", at("app"), at("bound")]);
  execFileSync("mount", ["--bind", at("app/sub"), at("boundSub")]);
  try {
    await using coffer = await openPlace(place);
    const plan = await coffer.plan("plan", [{ id: "first", type: DIRECTORY, location: at(first) }]);
    await plan.sandbox("first").write("mine", "kept\n");
    const wanted = { id: "second", type, location: at(second) };
    await expect(coffer.plan("plan", [wanted])).rejects.toMatchObject({
      code: "SANDBOX_CREATION",
      data: { stage: "overlap", residue: [] },
    });
    expect((await coffer.list()).map(({ ref }) => ref.resourceId)).toEqual(["first"]);
    expect((await plan.sandbox("first").read("mine")).toString()).toBe("kept\n");
    await plan.cleanup({ force: true });
  } finally {
    shell(place.real, "umount bound boundSub");
  }
});

it("has nothing against a neighbour whose name begins alike, nor against another plan (R127)", async () => {
  const place = makePlace(TREE);
  await using coffer = await openPlace(place);
  const plan = await coffer.plan("plan", [join(place.real, "app"), join(place.real, "app2")]);
  const other = await coffer.plan("other", [join(place.real, "app/sub")]);
  expect((await coffer.list()).map(({ ref }) => ref.resourceId).toSorted()).toEqual([
    "app",
    "app2",
    "sub",
  ]);
  await other.cleanup();
  await plan.cleanup();
});
