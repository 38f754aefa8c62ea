import { join } from "node:path";
import { expect, test } from "vitest";
import { openCofferdam } from "../../../src/index.ts";
import type { FaultPoint } from "../../support/faults.ts";
import { expectOracleEqual } from "../../support/oracle.ts";
import { samplePoints } from "../../support/sample-points.ts";
import { sweep } from "../../support/sweep.ts";
import { shell } from "../shell.ts";
import { filesOf, knownOf } from "./checkout.ts";
import { ANEW, expectWhole, interrupt, interruptCreation } from "./interrupted.ts";

const MINUTES = 60_000;
/** Of each part of an operation, unless the run is a whole one. */
const POINTS = 8;

/** Points of both kinds: those that touch the user's checkout, and those that only touch what is ours. */
function chosen(points: readonly FaultPoint[]): readonly FaultPoint[] {
  const isReal = ({ paths }: FaultPoint): boolean =>
    paths.some((path) => path.includes("/real/") && !path.includes("/.git/objects/"));
  const take = samplePoints(POINTS);
  return [...take(points.filter(isReal)), ...take(points.filter((point) => !isReal(point)))];
}

test.each([
  ["a commit", "commit", "true"],
  ["an undo", "undoCommit", "true"],
  ["an undo of files that git wrote anew", "undoCommit", ANEW],
] as const)(
  "%s that is killed at any call is whole after recovery: files, index and branch are all old or all new (R51, R60)",
  async (_name, operation, afterwards) => {
    const endings = new Set<string>();
    const tried = await sweep({
      prepare: () => interrupt(operation, afterwards),
      fault: { signal: "KILL" },
      choose: chosen,
      check: async (interrupted) => {
        endings.add(await expectWhole(interrupted));
      },
    });
    expect(tried.length).toBeGreaterThanOrEqual(POINTS);
    expect(endings.size).toBe(2);
  },
  60 * MINUTES,
);

test(
  "a creation that is killed at any call leaves a whole sandbox or no trace in the repository",
  async () => {
    await sweep({
      prepare: interruptCreation,
      fault: { signal: "KILL" },
      choose: samplePoints(POINTS),
      check: async ({ root, folder, files, known }) => {
        {
          await using coffer = await openCofferdam({
            stateDirectory: join(folder, "state"),
            config: false,
          });
          expect(coffer.opening.recovery ?? { complete: true }).toMatchObject({ complete: true });
          for (const { ref } of await coffer.list()) await coffer.sandbox(ref).cleanup();
        }
        expectOracleEqual(files, filesOf(root));
        expect(knownOf(root)).toBe(known);
        expect(shell(root, "find .git -name '*.lock' -o -name '*cofferdam*'")).toBe("");
      },
    });
  },
  60 * MINUTES,
);
