import { isWholeRun } from "../support/sample-points.ts";

/** So that a change alone, and not chance, decides whether the usual run passes. */
const USUAL = 20_261_116;

/** The seed that is given; else always the same one, and a fresh one in whole runs, which look somewhere else each time. */
export function firstSeed(): number {
  const given = process.env["COFFERDAM_SEED"];
  if (given !== undefined) return Number(given);
  return isWholeRun ? Math.floor(Math.random() * 0x7fffffff) : USUAL;
}
