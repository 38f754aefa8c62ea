import { expect, test } from "vitest";
import {
  BUILT_IN_STRATEGY_NAMES,
  STRATEGY_FITS,
  openCofferdam,
  withDefaults,
} from "../../src/index.ts";
import { coffer, listing, makeHome } from "./coffer.ts";

test("shows a sandbox at work, from the edits to the undo", () => {
  const { code, stdout, stderr } = coffer(makeHome(), ["demo"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const steps = [...stdout.matchAll(/^(\d)\. (\w+)/gm)].map(
    ([, number, word]) => `${number} ${word}`,
  );
  expect(steps).toEqual(["1 A", "2 A", "3 Edits", "4 The", "5 Commit", "6 Undo", "7 Cleaned"]);
  expect(stdout).toContain("-apples 3\n   +apples 5\n");
  expect(stdout).toContain("renamed from prices/pears.txt");
  expect(stdout).toContain("changed prices/apples.txt\n");
});

test("shows every strategy for directories that isolates and can undo, refuses the others, leaves nothing", async () => {
  const home = makeHome();
  await using cofferdam = await openCofferdam({
    stateDirectory: `${home.folder}/other`,
    config: false,
  });
  for (const name of BUILT_IN_STRATEGY_NAMES) {
    const { isolation, undoCommit } = withDefaults((await cofferdam.strategy(name)).capabilities);
    const { code, stdout, stderr } = coffer(home, ["demo", "--strategy", name]);
    const fits: readonly string[] = STRATEGY_FITS[name];
    const isShown = isolation === "full" && undoCommit && fits.includes("fs-directory");
    expect({ name, code }).toEqual({ name, code: isShown ? 0 : 1 });
    expect(stdout.includes(`Strategy ${name}, mode `)).toBe(isShown);
    expect(/^coffer: .*\nhint: .*\n$/.test(stderr)).toBe(!isShown);
    expect(listing(home.env["TMPDIR"] ?? "").split("\n")).toHaveLength(2);
  }
});

test("says which strategies there are when it is asked for another", () => {
  const home = makeHome();
  const { code, stderr } = coffer(home, ["demo", "--strategy", "overlai"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^coffer: .*overlai.*\nhint: Did you mean overlay\?\n$/);
  expect(listing(home.env["TMPDIR"] ?? "").split("\n")).toHaveLength(2);
});
