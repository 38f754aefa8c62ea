import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCofferdam } from "../../../src/index.ts";
import { type FaultPoint, faultPoints, runWithFault } from "../../support/faults.ts";
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

test(
  "a git that outlives the coffer that started it, and goes on making files, is no hindrance to a recovery (R51)",
  async () => {
    const isStaged = (path: string): boolean => path.endsWith(".files/n/n");
    const points = await faultPoints(await interrupt("commit"));
    const point = points.find(({ inChild, paths }) => inChild && paths.some(isStaged));
    const interrupted = await interrupt("commit");
    const run = await runWithFault(interrupted, point!, { signal: "KILL" });
    expect(run.fired).toBe(true);
    const files = shell(interrupted.folder, "find . -name '*.files' -printf '%P\\n'").trim();
    // It makes them again while the recovery removes them, and goes on for a while.
    const script = `mkdir -p n; : > n/n
    for w in a b; do (
      i=0; while [ -e n/n ]; do : > $w$((i % 99)); i=$((i + 1)); done
      i=3000; while [ $i -gt 0 ]; do : > $w$((i % 99)); i=$((i - 1)); done
    ) & done; wait`;
    const git = spawn("sh", ["-c", script], { cwd: join(interrupted.folder, files) });
    const ended = once(git, "exit");
    const isMaking = (): boolean => existsSync(join(interrupted.folder, files, "n/n"));
    await expect.poll(isMaking, { timeout: MINUTES }).toBe(true);
    expect(await expectWhole(interrupted)).toBe("old");
    await ended;
    expect(existsSync(join(interrupted.folder, files))).toBe(false);
  },
  10 * MINUTES,
);
