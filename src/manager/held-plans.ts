import { AsyncLocalStorage } from "node:async_hooks";

/** The plans that the present chain of calls holds alone, by their lock files. */
const held = new AsyncLocalStorage<ReadonlySet<string>>();

/** Whether the present chain of calls holds the plan with this lock file. */
export function isHeld(lockFile: string): boolean {
  return held.getStore()?.has(lockFile) === true;
}

/** Runs work as the holder of a plan. */
export function asHolder<T>(lockFile: string, work: () => Promise<T>): Promise<T> {
  return held.run(new Set([...(held.getStore() ?? []), lockFile]), work);
}

/** Runs a listener outside of any plan that its caller holds: it must wait for the lock like everybody else. */
export function outsideOfPlans<T>(work: () => T): T {
  return held.exit(work);
}
