import { appendFileSync } from "node:fs";
import { expect } from "vitest";
import type { FaultSettings, SuiteName } from "./settings.ts";

/** What came of disturbing one shape in one way. */
export interface Tally {
  readonly suite: SuiteName;
  readonly shape: string;
  /** What was done to it. */
  readonly faults: string;
  readonly seed: number;
  /** How many points, or rounds, there are to be tried. */
  readonly enumerated: number;
  readonly tried: number;
  /** How many of these did what they were meant to do. */
  readonly fired: number;
  readonly old: number;
  readonly new: number;
  readonly violations: readonly string[];
  readonly seconds: number;
  /** More that is worth knowing, in words. */
  readonly remarks?: readonly string[];
}

/** Prints and records a tally, and fails when a point did not fire or anything is wrong. */
export function settleTally(tally: Tally, { record, shard }: FaultSettings): void {
  process.stdout.write(`${describeTally(tally)}\n`);
  if (record !== null) {
    const violations = tally.violations.length;
    const part = shard.of === 1 ? {} : { shard: `${shard.part}/${shard.of}` };
    appendFileSync(record, `${JSON.stringify({ ...tally, ...part, violations })}\n`);
  }
  expect(tally.tried).toBeGreaterThan(0);
  expect(tally.fired).toBe(tally.tried);
  expect(tally.violations).toEqual([]);
}

/** One line for people. */
function describeTally(tally: Tally): string {
  const { suite, shape, faults, seed, enumerated, tried, fired, violations } = tally;
  const numbers = `${enumerated} points, ${tried} tried, ${fired} fired`;
  const endings = `${tally.old} old, ${tally.new} new, ${violations.length} violations`;
  return `${suite}: ${shape} (${faults}): seed ${seed}: ${numbers}: ${endings}`;
}
