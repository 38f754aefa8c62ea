import { NativeError, statFd } from "../../platform/native/index.ts";
import {
  type AppliedStep,
  lookAtApplied,
  readApplied,
  shelvedBy,
  writeApplied,
} from "./applied-record.ts";
import { applyStep } from "./apply-step.ts";
import { isForeign } from "./foreign-edit.ts";
import { type PublishContext, openContext } from "./publish-context.ts";
import { loosenFolders, settleFolder, syncFolders } from "./settle-folders.ts";
import type { PublishPlace } from "./step.ts";
import { Progress, type StepsResult } from "./steps-result.ts";

const ESTALE = 116;

/**
 * Publishes everything that was staged. Only goes forward, recognises by inode what is done, and can be repeated after
 * a crash at any moment. Never writes into a file of the tree, never follows a link. Stops at the first failure. When
 * `failure` is null, the new state and the record of it are on disk, and the stage holds the undo data.
 * @throws RecordDamagedError when the steps cannot be trusted; nothing is touched then.
 */
export function applySteps(place: PublishPlace): StepsResult {
  using context = openContext(place);
  const progress = new Progress();
  const known = readApplied(context);
  if (known !== null) {
    progress.done = known.length;
    noteOutcome(context, progress, known);
    return progress.result(context);
  }
  try {
    if (statFd(context.root.fd).ino !== context.list.root.ino) {
      throw new NativeError(ESTALE, "open", place.root);
    }
    publishAll(context, progress);
  } catch (thrown) {
    progress.fail(thrown);
  }
  return progress.result(context);
}

function publishAll(context: PublishContext, progress: Progress): void {
  const { steps, folders } = context.list;
  loosenFolders(context);
  for (const step of steps) {
    progress.path = step.path;
    if (!context.leavesForeign || !isForeign(context, step)) applyStep(context, step);
    else if (step.staged === null) progress.shelved.push({ path: step.path, keptAt: null });
    progress.done++;
  }
  for (let position = folders.length - 1; position >= 0; position--) {
    progress.path = context.folderAt(position).path;
    settleFolder(context, position, "apply");
  }
  progress.path = null;
  const outcome = lookAtApplied(context);
  noteOutcome(context, progress, outcome);
  // The names must be on disk before the record that says so.
  syncFolders(context);
  writeApplied(context.stage.fd, outcome);
}

function noteOutcome(
  context: PublishContext,
  progress: Progress,
  outcome: readonly AppliedStep[],
): void {
  context.list.steps.forEach((step, at) => {
    const own = outcome[at];
    if (own === undefined) return;
    progress.shelved.push(...shelvedBy(context, step, own));
    for (const [, entry] of own.kept) {
      if (entry.type !== "directory") progress.keptBytes += entry.size;
    }
  });
}
