import { appendFileSync } from "node:fs";

/** What came of disturbing one shape in one way. */
export interface Tally {
  readonly shape: string;
  readonly faults: string;
  readonly seed: number;
  readonly enumerated: number;
  readonly tried: number;
  readonly fired: number;
  readonly old: number;
  readonly new: number;
  readonly violations: readonly string[];
}

/** One line for people. */
export function describeTally(tally: Tally): string {
  const { shape, faults, seed, enumerated, tried, fired, violations } = tally;
  const numbers = `${enumerated} points, ${tried} tried, ${fired} fired`;
  const endings = `${tally.old} old, ${tally.new} new, ${violations.length} violations`;
  return `${shape} (${faults}): seed ${seed}: ${numbers}: ${endings}`;
}

/** Appends a tally to a file of one JSON line each. */
export function recordTally(tally: Tally, file: string): void {
  appendFileSync(file, `${JSON.stringify({ ...tally, violations: tally.violations.length })}\n`);
}
