import { isErrno, linkAt, unlinkAt } from "../../platform/native/index.ts";
import type { AppliedStep } from "./applied-record.ts";
import { lookAt } from "./entry-record.ts";
import { isEdited } from "./foreign-edit.ts";
import { exchangeEntries, moveEntry, renameOver } from "./move-entry.ts";
import type { PublishContext } from "./publish-context.ts";
import type { Step } from "./step.ts";

const ATTEMPTS = 20;

/**
 * Takes one step back, or recognises that it was never done or is taken back already. Whatever somebody else put at the
 * path since ends in the stage, unless nothing was there before the step or edits of others are to stay: then it stays.
 */
export function reverseStep(
  context: PublishContext,
  step: Step,
  applied: AppliedStep | undefined,
): void {
  for (let attempt = 1; ; attempt++) {
    try {
      if (step.staged === null) putBack(context, step, applied);
      else withdraw(context, step, step.staged.ino, applied);
      return;
    } catch (error) {
      if (!isErrno(error, "EEXIST", "ENOENT") || attempt === ATTEMPTS) throw error;
    }
  }
}

function putBack(context: PublishContext, step: Step, applied: AppliedStep | undefined): void {
  const kept = context.keptOf(step);
  if (!lookAt(context.slot, kept.fd, kept.name)) return;
  const place = context.placeOf(step);
  if (!lookAt(context.now, place.fd, place.name)) {
    moveEntry(kept.fd, kept.name, place.fd, place.name);
  } else if (!context.leavesForeign && !isOld(context, step, applied)) swapOut(context, step);
}

function withdraw(
  context: PublishContext,
  step: Step,
  ino: bigint,
  applied: AppliedStep | undefined,
): void {
  const [staged, kept] = [context.slotOf(step), context.keptOf(step)];
  const isStaged = lookAt(context.slot, staged.fd, staged.name) && context.slot.ino === ino;
  // Still staged: whatever became of the folder in the tree, there is nothing of ours in it.
  if (isStaged && context.reachFolder(step.folder) === null) return;
  const place = context.placeOf(step);
  const isTaken = lookAt(context.now, place.fd, place.name);
  const isOurs = isTaken && context.now.ino === ino;
  const isKept = lookAt(context.slot, kept.fd, kept.name) && context.slot.ino !== ino;
  if (context.leavesForeign && isOurs && isEdited(context, step)) return;
  if (isOurs && !isKept) moveEntry(place.fd, place.name, staged.fd, staged.name);
  else if (isOurs) swapOut(context, step);
  else if (!isKept) return;
  else if (!isTaken) moveEntry(kept.fd, kept.name, place.fd, place.name);
  else if (context.now.ino === context.slot.ino) unlinkAt(kept.fd, kept.name);
  else if (context.leavesForeign || isStaged || step.old === null) return;
  else if (!isOld(context, step, applied)) swapOut(context, step);
}

/** Whether what is at the path is what was there before the step. */
function isOld(context: PublishContext, step: Step, applied: AppliedStep | undefined): boolean {
  const { ino } = context.now;
  return ino === step.old?.ino || ino === applied?.kept[0]?.[1].ino;
}

/** The old entry takes its place again, and what was there goes to where the staged entry was. */
function swapOut(context: PublishContext, step: Step): void {
  const [place, aside] = [context.placeOf(step), context.asideOf(step)];
  if (aside === null) {
    if (exchangeEntries(context.keptOf(step), place)) return;
    context.useLinks();
    swapOut(context, step);
    return;
  }
  const kept = context.freeSlot(step);
  const isFolder = context.now.type === "directory" || context.slot.type === "directory";
  if (isFolder) {
    moveEntry(place.fd, place.name, aside.fd, aside.name);
    moveEntry(kept.fd, kept.name, place.fd, place.name);
    return;
  }
  // Left from a try that was cut short: the same file under both names.
  if (lookAt(context.slot, aside.fd, aside.name) && context.slot.ino === context.now.ino) {
    unlinkAt(aside.fd, aside.name);
  }
  linkAt(place.fd, place.name, aside.fd, aside.name);
  renameOver(kept, place);
}
