import {
  abandonStage,
  adoptEntries,
  applySteps,
  checkUndo,
  dropStage,
  dropUndoData,
  findShared,
  giveBack,
  readIdentities,
  reverseSteps,
  stageChanges,
  verifySteps,
} from "../publish/index.ts";
import { copyEntries } from "../scan/copy-entries.ts";
import { compareSnapshots } from "../scan/compare-snapshots.ts";
import { compareTree } from "../scan/compare-tree.ts";
import { finishCopy } from "../scan/finish-copy.ts";
import { findDrift } from "../scan/find-drift.ts";
import { measureTree } from "../scan/measure-tree.ts";
import { planCopy } from "../scan/plan-copy.ts";
import { removeBelow, removeFolder } from "../remove-folders.ts";
import { recordTree } from "../scan/record-tree.ts";
import { describeChanges } from "../view/describe-changes.ts";

/** Bulk file work: synchronous functions that run on a thread of their own, never on the caller's event loop. */
export const TASKS = {
  abandonStage,
  adoptEntries,
  applySteps,
  checkUndo,
  compareSnapshots,
  compareTree,
  copyEntries,
  describeChanges,
  dropStage,
  dropUndoData,
  findDrift,
  findShared,
  finishCopy,
  giveBack,
  measureTree,
  planCopy,
  readIdentities,
  recordTree,
  removeBelow,
  removeFolder,
  reverseSteps,
  stageChanges,
  verifySteps,
} as const;

/** Name of a task. */
export type TaskName = keyof typeof TASKS;

/** What a task takes. */
export type TaskInput<Name extends TaskName> = Parameters<(typeof TASKS)[Name]>[0];

/** What a task gives. */
export type TaskOutput<Name extends TaskName> = ReturnType<(typeof TASKS)[Name]>;
