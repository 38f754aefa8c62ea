import { expect, test } from "vitest";
import { abandonStage, checkUndo, reverseSteps } from "../../../src/tree/publish/index.ts";
import type { Fault } from "../../support/faults.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { samplePoints } from "../../support/sample-points.ts";
import { sweep } from "../../support/sweep.ts";
import { isStageGone } from "./fixture.ts";
import { type Prepared, apply, expectNew, expectOld, expectUndone, prepare } from "./prepared.ts";

const MINUTES = 60_000;
/** Of each operation, unless the run is a whole one. */
const POINTS = 6;
const KILL: Fault = { signal: "KILL" };

function expectCommitted(prepared: Prepared): void {
  apply(prepared);
  expectNew(prepared);
  expect(checkUndo(prepared.place)).toEqual({ status: "ready" });
}

for (const take of ["move", "clone"] as const) {
  test(
    `leaves the tree untouched and gives everything back when staging by ${take} is killed at any call (R26, R174)`,
    async () => {
      await sweep({
        prepare: () => prepare("stage", take, () => undefined),
        fault: KILL,
        choose: samplePoints(POINTS),
        check: (prepared) => {
          expectOld(prepared);
          for (const _ of ["once", "twice"]) {
            expect(abandonStage(prepared.place)).toEqual({ stuck: [], remaining: [] });
          }
          expect(isStageGone(prepared)).toBe(true);
          expectOld(prepared);
          expectOracleEqual(prepared.wanted, takeOracle(prepared.work), {
            ignore: ["directoryMtimes"],
          });
        },
      });
    },
    5 * MINUTES,
  );
}

test(
  "goes forward to the new tree or back to the old one when applying is killed at any call (R177)",
  async () => {
    let isForward = false;
    await sweep({
      prepare: () => prepare("apply", "move", () => undefined),
      fault: KILL,
      choose: samplePoints(POINTS),
      check: (prepared) => {
        isForward = !isForward;
        if (isForward) expectCommitted(prepared);
        expectUndone(prepared);
      },
    });
  },
  5 * MINUTES,
);

test(
  "comes back to the old tree when taking a commit back is killed at any call (R177)",
  async () => {
    await sweep({
      prepare: () => prepare("reverse", "move", apply),
      fault: KILL,
      choose: samplePoints(POINTS),
      check: expectUndone,
    });
  },
  5 * MINUTES,
);

test(
  "gives the sandbox its files back when giving back is killed at any call",
  async () => {
    await sweep({
      prepare: () =>
        prepare("giveBack", "move", (prepared) => {
          apply(prepared);
          reverseSteps(prepared.place);
        }),
      fault: KILL,
      choose: samplePoints(POINTS),
      check: expectUndone,
    });
  },
  5 * MINUTES,
);
