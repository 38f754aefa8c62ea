import { copyEntries } from "../scan/copy-entries.ts";
import { compareTree } from "../scan/compare-tree.ts";
import { finishCopy } from "../scan/finish-copy.ts";
import { planCopy } from "../scan/plan-copy.ts";

/** Bulk file work: synchronous functions that run on a thread of their own, never on the caller's event loop. */
export const TASKS = {
  compareTree,
  copyEntries,
  finishCopy,
  planCopy,
} as const;

/** Name of a task. */
export type TaskName = keyof typeof TASKS;

/** What a task takes. */
export type TaskInput<Name extends TaskName> = Parameters<(typeof TASKS)[Name]>[0];

/** What a task gives. */
export type TaskOutput<Name extends TaskName> = ReturnType<(typeof TASKS)[Name]>;
