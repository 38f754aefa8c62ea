import { expect, it } from "vitest";
import { samplePoints } from "../support/sample-points.ts";
import { type TracedProgram, faultPoints, runWithFault } from "../support/faults.ts";
import { expectOracleEqual, oracleDifferences, takeOracle } from "../support/oracle.ts";
import { type Committed, committed } from "./committed.ts";
import type { Order } from "./order.ts";
import { openPlace, shell } from "./place.ts";

const PROGRAM = new URL("./programs/operate.ts", import.meta.url);
const MINUTES = 60_000;
const TREE =
  'for folder in a b c; do mkdir $folder; echo "$folder as it was" > $folder/file; done; mkdir a/gone';
const EDIT =
  'for folder in a b c; do echo "$folder edited" > $folder/file; done; rmdir a/gone; mkdir c/new';

interface Stuck extends Committed {
  readonly traced: TracedProgram;
}

/** A commit that cannot be taken back, because nothing in one folder can be renamed any more. */
async function stuck(strategy: string): Promise<Stuck> {
  const made = await committed(strategy, TREE, EDIT);
  const { place, ref } = made;
  shell(place.real, "chattr +i b");
  const order: Order = { state: place.state, operation: "undoCommit", ref };
  const traced = { program: PROGRAM, args: [JSON.stringify(order)], touching: [place.folder] };
  return { ...made, traced };
}

it.each(["overlay", "copy_on_write"])(
  "%s: an undo that dies at any moment of its way back ends as a whole (R178, R220)",
  async (strategy) => {
    const first = await stuck(strategy);
    const points = await faultPoints(first.traced);
    shell(first.place.real, "chattr -i b");
    expectOracleEqual(first.published, takeOracle(first.place.real));
    const begun = points.findIndex(({ call }) => call === "renameat2");
    const endings = new Set<string>();
    for (const { at } of samplePoints(5)(points.slice(begun))) {
      const { place, ref, old, published, traced } = await stuck(strategy);
      const run = await runWithFault(traced, { at }, { signal: "KILL" });
      shell(place.real, "chattr -i b");
      expect(run.fired).toBe(true);
      await using coffer = await openPlace(place);
      expect(coffer.opening.recovery?.complete ?? true).toBe(true);
      const status = await coffer.status(ref);
      endings.add(status);
      const expected = status === "COMMITTED" ? published : old;
      const differences = oracleDifferences(expected, takeOracle(place.real));
      expect(differences, `${at} ${points[at - 1]?.call} ${status}`).toEqual([]);
      const sandbox = coffer.sandbox(ref);
      await (status === "COMMITTED" ? sandbox.undoCommit() : sandbox.commit());
      await sandbox.cleanup();
    }
    expect(endings).toEqual(new Set(["ACTIVE", "COMMITTED"]));
  },
  5 * MINUTES,
);
