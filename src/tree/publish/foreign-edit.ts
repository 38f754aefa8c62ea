import { entryType } from "../read-entry.ts";
import { isSameContent, lookAt } from "./entry-record.ts";
import type { PublishContext } from "./publish-context.ts";
import type { Step } from "./step.ts";
import { walkBelow } from "./walk-below.ts";

/**
 * Whether somebody else has changed what is at the path of a step: it is neither what the step expects there nor what
 * the step has put there. Change times do not count, because publishing other names of a file moves them.
 */
export function isForeign(context: PublishContext, step: Step): boolean {
  const { staged, old } = step;
  const place = context.placeOf(step);
  if (!lookAt(context.now, place.fd, place.name)) return isRemovedByOthers(context, step);
  if (staged !== null && context.now.ino === staged.ino) return false;
  if (old === null || !isSameContent(context.now, old)) return true;
  if (old.type !== "directory") return false;
  return isEditedBelow(context, step);
}

function isEditedBelow(context: PublishContext, step: Step): boolean {
  const { fd, name } = context.placeOf(step);
  const expected = new Map(step.below);
  let isOther = false;
  walkBelow(fd, name, step.path, (path, stat) => {
    const record = expected.get(path);
    expected.delete(path);
    const isUnknown = record === undefined && entryType(stat.type) !== "special";
    isOther ||= isUnknown || (record !== undefined && !isSameContent(stat, record));
  });
  return isOther || expected.size > 0;
}

/** Whether an entry that was published has been written to since. */
export function isEdited(context: PublishContext, { staged }: Step): boolean {
  return staged !== null && staged.type !== "directory" && !isSameContent(context.now, staged);
}

/** Nothing is there: as expected, by our own doing, or because somebody took it away. */
function isRemovedByOthers(context: PublishContext, step: Step): boolean {
  if (step.staged === null || step.old === null) return false;
  const kept = context.keptOf(step);
  const isOwn = lookAt(context.slot, kept.fd, kept.name) && context.slot.ino === step.old.ino;
  return !isOwn;
}
