import { expect, test } from "vitest";
import { type TestRunner, runConformance } from "../../src/testing/index.ts";
import { kitRunner } from "../support/kit-runner.ts";
import { LEFT_OUT_FOR_GIT } from "./git-left-out.ts";
import { gitSubject } from "./git-subject.ts";

const leftOut = new Set(Object.values(LEFT_OUT_FOR_GIT).flat());
const declared: string[] = [];

const runner: TestRunner = {
  ...kitRunner,
  test: (title, body) => {
    declared.push(title);
    return leftOut.has(title) ? undefined : kitRunner.test(title, body);
  },
};

await runConformance(runner, gitSubject());

test("leaves out only checks that there are, and runs more than it leaves out", () => {
  expect([...leftOut].filter((title) => !declared.includes(title))).toEqual([]);
  expect(declared.length).toBeGreaterThan(2 * leftOut.size);
});
