import { RecordDamagedError } from "../../errors/index.ts";
import { NativeError, statFd } from "../../platform/native/index.ts";
import { type AppliedStep, beginReverse } from "./applied-record.ts";
import { carryTimes } from "./carry-times.ts";
import { givingBack } from "./giving-back.ts";
import { lookAtReversed } from "./look-at-reversed.ts";
import { openContext } from "./publish-context.ts";
import { reverseStep } from "./reverse-step.ts";
import { loosenFolders, settleFolder, syncFolders } from "./settle-folders.ts";
import { markShelved } from "./shelved-mark.ts";
import type { PublishPlace } from "./step.ts";
import { Progress, type StepsResult } from "./steps-result.ts";

const ESTALE = 116;

/**
 * Brings the tree back to what it was before `applySteps`, also when that was cut short, folder times and attributes
 * included. Can be repeated after a crash at any moment. Goes on after a failure, so that as much as possible is back;
 * `failure` tells the first one. When it is null the old state is on disk and the stage holds the new entries.
 * @throws RecordDamagedError when the steps cannot be trusted; nothing is touched then.
 */
export function reverseSteps(place: PublishPlace): StepsResult {
  using context = openContext(place);
  const progress = new Progress();
  const { steps, folders, root } = context.list;
  if (statFd(context.root.fd).ino !== root.ino) {
    progress.fail(new NativeError(ESTALE, "open", place.root));
    return progress.result(context);
  }
  let applied: readonly AppliedStep[];
  try {
    applied = beginReverse(context);
  } catch (thrown) {
    if (thrown instanceof RecordDamagedError) throw thrown;
    progress.fail(thrown);
    return progress.result(context);
  }
  progress.attempt(null, () => loosenFolders(context));
  for (let at = steps.length - 1; at >= 0; at--) {
    const step = steps[at];
    if (step === undefined) continue;
    progress.attempt(step.path, () => {
      givingBack(context, step, applied[at], () => reverseStep(context, step, applied[at]));
      progress.done++;
    });
  }
  for (const step of steps) {
    progress.attempt(step.path, () => {
      progress.shelved.push(...lookAtReversed(context, step));
    });
  }
  for (let position = folders.length - 1; position >= 0; position--) {
    progress.attempt(context.folderAt(position).path, () =>
      settleFolder(context, position, "reverse"),
    );
  }
  if (progress.shelved.some(({ keptAt }) => keptAt !== null)) {
    progress.attempt(null, () => markShelved(context.stage.fd));
  }
  progress.attempt(null, () => syncFolders(context));
  const result = progress.result(context);
  // The new times must be on disk before anybody is told of them.
  if (result.failure === null) carryTimes(place.stage, context.custody.carried);
  return result;
}
