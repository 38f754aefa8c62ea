import type { Clock } from "../contract/host.ts";

/** The clock of the machine. */
export const systemClock: Clock = { now: () => new Date() };

/**
 * Milliseconds since some moment, whatever happens to the clock. What `performance.now` is a part of takes longer to
 * load than most of what is timed.
 */
export function steadyMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
