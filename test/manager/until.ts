import { setTimeout as pause } from "node:timers/promises";

/** Waits until something is so; the test's own time limit ends it. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(2);
}
