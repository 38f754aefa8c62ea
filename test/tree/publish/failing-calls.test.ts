import { expect, test } from "vitest";
import { abandonStage } from "../../../src/tree/publish/index.ts";
import { type FaultedRun, faultPoints, runWithFault } from "../../support/faults.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { samplePoints } from "../../support/sample-points.ts";
import { sweep } from "../../support/sweep.ts";
import { isStageGone } from "./fixture.ts";
import { apply, expectNew, expectOld, expectUndone, prepare } from "./prepared.ts";

const MINUTES = 60_000;
/** Of each operation, unless the run is a whole one. */
const POINTS = 6;

interface Answer {
  readonly thrown?: string;
  readonly data?: { readonly undoDataAt: string | null; readonly originalRestored: boolean };
  readonly failure?: { readonly code: string } | null;
}

function answerOf(run: FaultedRun): Answer {
  expect(run.stderr).toBe("");
  return JSON.parse(run.stdout) as Answer;
}

for (const take of ["move", "clone"] as const) {
  test(
    `removes the stage and gives everything back when any call of staging by ${take} fails (R174)`,
    async () => {
      await sweep({
        prepare: () => prepare("stage", take, () => undefined),
        fault: { error: "EIO" },
        choose: samplePoints(POINTS),
        check: (prepared, run) => {
          const { thrown, data } = answerOf(run);
          expectOld(prepared);
          expect(thrown).toBe("SANDBOX_COMMIT");
          // A call of the removal itself may be the one that fails; then the place is told.
          if (data?.undoDataAt !== null) abandonStage(prepared.place);
          expect(isStageGone(prepared)).toBe(true);
          expectOracleEqual(prepared.wanted, takeOracle(prepared.work), {
            ignore: ["directoryMtimes"],
          });
        },
      });
    },
    5 * MINUTES,
  );
}

test("says where everything lies when staging fails and cannot be taken back either (R182, R262)", async () => {
  const prepared = prepare("stage", "move", () => undefined);
  const points = await faultPoints(prepare("stage", "move", () => undefined));
  const moved = points.find(({ call, paths }) => call === "renameat2" && paths.length === 2);
  const run = await runWithFault(
    prepared,
    { at: (moved?.at ?? 0) + 1 },
    { error: "EIO", lasting: true },
  );
  expect(run.fired).toBe(true);
  expect(answerOf(run)).toMatchObject({
    thrown: "SANDBOX_COMMIT",
    data: { originalRestored: true, undoDataAt: prepared.stage },
  });
  expectOld(prepared);
  expect(abandonStage(prepared.place)).toEqual({ stuck: [], remaining: [] });
  expectOracleEqual(prepared.wanted, takeOracle(prepared.work), { ignore: ["directoryMtimes"] });
});

test(
  "tells a failed call while applying, and can still go back or forward (R177)",
  async () => {
    let isForward = false;
    await sweep({
      prepare: () => prepare("apply", "move", () => undefined),
      fault: { error: "EIO" },
      choose: samplePoints(POINTS),
      check: (prepared, run) => {
        expect(answerOf(run).failure).toMatchObject({ code: "EIO" });
        isForward = !isForward;
        if (isForward) {
          apply(prepared);
          expectNew(prepared);
        }
        expectUndone(prepared);
      },
    });
  },
  5 * MINUTES,
);

test(
  "tells a failed call while going back, and finishes on the next try (R177)",
  async () => {
    await sweep({
      prepare: () => prepare("reverse", "move", apply),
      fault: { error: "EIO" },
      choose: samplePoints(POINTS),
      check: (prepared, run) => {
        expect(answerOf(run).failure).toMatchObject({ code: "EIO" });
        expectUndone(prepared);
      },
    });
  },
  5 * MINUTES,
);
