import { expect } from "vitest";
import type { BytePath } from "../../../src/model/byte-path.ts";
import {
  applySteps,
  dropStage,
  giveBack,
  reverseSteps,
  stageChanges,
} from "../../../src/tree/publish/index.ts";
import type { TracedProgram } from "../../support/faults.ts";
import { type Oracle, expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { EVERY_KIND, type Fixture, makeFixture, requestFor, writeRequest } from "./fixture.ts";

/** A fixture and the program that works on it, to be disturbed. */
export interface Prepared extends TracedProgram, Fixture {
  readonly place: { readonly root: BytePath; readonly stage: BytePath };
  readonly old: Oracle;
  readonly wanted: Oracle;
}

/** A fresh fixture on which everything before the operation has been done. */
export function prepare(
  operation: string,
  take: "move" | "clone",
  before: (fixture: Prepared) => void,
): Prepared {
  const fixture = makeFixture(EVERY_KIND.base, EVERY_KIND.edit);
  const request = requestFor(fixture, take);
  const prepared = {
    ...fixture,
    place: { root: request.root, stage: request.stage },
    old: takeOracle(fixture.root),
    wanted: takeOracle(fixture.work),
    program: new URL("./programs/run-steps.ts", import.meta.url),
    args: [operation, writeRequest(fixture, request)],
    touching: [fixture.root, fixture.area],
  };
  if (operation !== "stage") stageChanges(request);
  before(prepared);
  return prepared;
}

/** Publishes what is staged. */
export function apply({ place }: Prepared): void {
  expect(applySteps(place)).toMatchObject({ failure: null, shelved: [] });
}

/** The tree is what it was before the commit. */
export function expectOld({ root, old }: Prepared): void {
  expectOracleEqual(old, takeOracle(root));
}

/** The tree is what the workspace was. */
export function expectNew({ root, wanted }: Prepared): void {
  expectOracleEqual(wanted, takeOracle(root));
}

/** Takes everything back and checks that neither the tree nor the workspace lost anything. */
export function expectUndone(prepared: Prepared): void {
  const { place, work, wanted } = prepared;
  expect(reverseSteps(place)).toMatchObject({ failure: null, shelved: [] });
  expectOld(prepared);
  expect(giveBack(place).stuck).toEqual([]);
  expect(dropStage(place)).toEqual([]);
  expectOld(prepared);
  expectOracleEqual(wanted, takeOracle(work), { ignore: ["directoryMtimes"] });
}
