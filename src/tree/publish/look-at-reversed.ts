import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import { type EntryRecord, isSameContent, lookAt } from "./entry-record.ts";
import type { PublishContext } from "./publish-context.ts";
import { settleMoved } from "./settle-moved.ts";
import type { Step } from "./step.ts";
import type { Shelved } from "./steps-result.ts";
import { walkBelow } from "./walk-below.ts";

/**
 * Looks at what a reversed step left in the stage: edits that somebody else made to what was published are kept there
 * and told, as is an old entry that could not go back. Puts moved directories right.
 */
export function lookAtReversed(context: PublishContext, step: Step): Shelved[] {
  const { path, old, staged } = step;
  const isTaken = context.reachFolder(step.folder) !== null && isThere(context, step);
  if (isTaken) settleMoved(context.now, context.placeOf(step), old);
  const left: Shelved[] = isTaken && old === null ? [{ path, keptAt: null }] : [];
  for (const { fd, name, at } of context.leftovers(step)) {
    if (!lookAt(context.slot, fd, name)) continue;
    const { ino } = context.slot;
    if (isTaken && ino === context.now.ino) continue;
    if (ino !== staged?.ino) left.push({ path, keptAt: at });
    else if (staged.type === "directory") left.push(...editedInside(fd, name, at, step));
    else if (!isSameContent(context.slot, staged)) left.push({ path, keptAt: at });
  }
  return left;
}

function isThere(context: PublishContext, step: Step): boolean {
  const { fd, name } = context.placeOf(step);
  return lookAt(context.now, fd, name);
}

function editedInside(fd: number, name: string, at: BytePath, step: Step): Shelved[] {
  const expected = new Map<RelativePath, EntryRecord>(step.inside);
  const edited: Shelved[] = [];
  walkBelow(fd, name, step.path, (path, stat) => {
    const record = expected.get(path);
    if (record !== undefined && isSameContent(stat, record)) return;
    edited.push({ path, keptAt: `${at}${path.slice(step.path.length)}` as BytePath });
  });
  return edited;
}
