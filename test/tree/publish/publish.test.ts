import { expect, test } from "vitest";
import {
  applySteps,
  checkUndo,
  dropStage,
  giveBack,
  reverseSteps,
  stageChanges,
  verifySteps,
} from "../../../src/tree/publish/index.ts";
import type { BytePath } from "../../../src/model/byte-path.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { type Fixture, isStageGone, makeFixture, requestFor } from "./fixture.ts";

/** Commits the workspace, checks it, takes it back, checks that, and gives the sandbox its files again. */
function commitAndUndo(fixture: Fixture, take: "move" | "clone"): void {
  const place = { root: fixture.root as BytePath, stage: fixture.stage as BytePath };
  const [old, wanted] = [takeOracle(fixture.root), takeOracle(fixture.work)];
  stageChanges(requestFor(fixture, take));
  expectOracleEqual(old, takeOracle(fixture.root));
  expect(verifySteps(place)).toEqual([]);
  expect(applySteps(place)).toMatchObject({ failure: null, shelved: [], mode: "exchange" });
  expectOracleEqual(wanted, takeOracle(fixture.root));
  expect(applySteps(place)).toMatchObject({ failure: null, shelved: [] });
  expectOracleEqual(wanted, takeOracle(fixture.root));
  expect(checkUndo(place)).toEqual({ status: "ready" });
  for (const _ of ["undo", "undo again"]) {
    expect(reverseSteps(place)).toMatchObject({ failure: null, shelved: [] });
    expectOracleEqual(old, takeOracle(fixture.root));
  }
  expect(giveBack(place).stuck).toEqual([]);
  expectOracleEqual(wanted, takeOracle(fixture.work), { ignore: ["directoryMtimes"] });
  expect(dropStage(place)).toEqual([]);
  expect(isStageGone(fixture)).toBe(true);
  expectOracleEqual(old, takeOracle(fixture.root));
}

const KINDS: Readonly<Record<string, string>> = {
  file: "printf content > x; chmod 640 x; touch -d '2001-02-03 04:05:06.789012345' x",
  emptyFolder: "mkdir x; chmod 711 x; touch -d '2002-02-03 04:05:06.789012345' x",
  fullFolder:
    "mkdir -p x/deep/er; echo 1 > x/a; ln -s a x/l; echo 2 > x/deep/er/b; chmod 500 x/deep; touch -d '2003-02-03 04:05:06.7' x/deep x",
  linkToFile: "ln -s target x; touch -h -d '2004-02-03 04:05:06.5' x",
  linkToFolder: "ln -s folder x",
  brokenLink: "ln -s no/where x",
};

for (const [from, makeFrom] of Object.entries(KINDS)) {
  for (const [to, makeTo] of Object.entries(KINDS)) {
    for (const take of ["move", "clone"] as const) {
      test(`replaces ${from} by ${to} and brings it back, sources by ${take} (R40, R25, R33)`, () => {
        const fixture = makeFixture(
          `echo t > target; mkdir folder; ${makeFrom}; touch -d '2000-01-01 00:00:00.000000001' .`,
          `rm -rf x; ${makeTo}; touch -h -d '2010-10-10 10:10:10.101010101' x .`,
        );
        commitAndUndo(fixture, take);
      });
    }
  }
}
