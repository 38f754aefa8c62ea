import { expect } from "vitest";
import {
  applySteps,
  checkUndo,
  dropStage,
  giveBack,
  reverseSteps,
  stageChanges,
  verifySteps,
} from "../../../src/tree/publish/index.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { type Fixture, isStageGone, requestFor } from "./fixture.ts";

/**
 * Commits the workspace and takes the commit back, everything twice; the tree is compared with the workspace and with
 * what it was, and at the end the workspace has its files again and no stage is left.
 */
export function commitAndUndo(
  fixture: Fixture,
  take: "move" | "clone",
  request = requestFor(fixture, take),
): void {
  const [old, wanted] = [takeOracle(fixture.root), takeOracle(fixture.work)];
  stageChanges(request);
  expectOracleEqual(old, takeOracle(fixture.root));
  expect(verifySteps(request)).toEqual([]);
  for (const _ of ["commit", "commit again"]) {
    expect(applySteps(request)).toMatchObject({ failure: null, shelved: [], mode: "exchange" });
    expectOracleEqual(wanted, takeOracle(fixture.root));
  }
  expect(checkUndo(request)).toEqual({ status: "ready" });
  for (const _ of ["undo", "undo again"]) {
    expect(reverseSteps(request)).toMatchObject({ failure: null, shelved: [] });
    expectOracleEqual(old, takeOracle(fixture.root));
  }
  for (const _ of ["give back", "give back again"]) expect(giveBack(request).stuck).toEqual([]);
  expectOracleEqual(wanted, takeOracle(fixture.work), { ignore: ["directoryMtimes"] });
  expect(dropStage(request)).toEqual([]);
  expect(isStageGone(fixture)).toBe(true);
  expectOracleEqual(old, takeOracle(fixture.root));
}
