import type { Clock } from "../contract/host.ts";

/** The clock of the machine. */
export const systemClock: Clock = { now: () => new Date() };
