import { expect, it } from "vitest";
import { type StageRequest, stageChanges } from "../../../src/tree/publish/index.ts";
import type { TreeChange } from "../../../src/tree/tree-change.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { type Fixture, isStageGone, makeFixture, requestFor } from "./fixture.ts";

type Change = (change: TreeChange) => TreeChange;

/** Changes of which one side is made a lie. */
function lying(fixture: Fixture, path: string, lie: Change): StageRequest {
  const request = requestFor(fixture);
  expect(request.changes.map((change) => change.path)).toContain(path);
  const changes = request.changes.map((change) => (change.path === path ? lie(change) : change));
  return { ...request, changes };
}

it.each<readonly [string, string, Change]>([
  ["a file below what was no folder", "d", (change) => ({ ...change, before: null })],
  ["a new file below what is no folder", "new", (change) => ({ ...change, after: null })],
])("refuses %s, and touches nothing", (_what, path, lie) => {
  const fixture = makeFixture(
    "mkdir d; echo 1 > d/f; chmod 700 d",
    "echo 2 > d/f; chmod 711 d; mkdir new; echo 3 > new/f",
  );
  const before = takeOracle(fixture.root);
  expect(() => stageChanges(lying(fixture, path, lie))).toThrow(
    expect.objectContaining({ code: "SANDBOX_COMMIT" }) as Error,
  );
  expectOracleEqual(before, takeOracle(fixture.root));
  expect(isStageGone(fixture)).toBe(true);
});

it("takes a change without any side for none", () => {
  const fixture = makeFixture("echo 1 > f", "echo 2 > f; echo 3 > g");
  const none: Change = (change) => ({ ...change, before: null, after: null, source: null });
  expect(() => stageChanges(lying(fixture, "g", none))).not.toThrow();
});
