import type { StatBuffer } from "../../platform/native/index.ts";
import type { AppliedStep } from "./applied-record.ts";
import { type EntryRecord, isSameContent, lookAt } from "./entry-record.ts";
import type { PublishContext } from "./publish-context.ts";
import type { Step } from "./step.ts";

/**
 * Takes a step back and notes the change time of the old file that is in its place again, where nobody else touched it
 * from the commit on: whoever published that file before has to recognise it.
 */
export function givingBack(
  context: PublishContext,
  step: Step,
  applied: AppliedStep | undefined,
  work: () => void,
): void {
  const old = provenOld(context, step, applied);
  const before = old === null ? null : rightsOf(context.slot);
  work();
  if (old === null || context.reachFolder(step.folder) === null) return;
  const { fd, name } = context.placeOf(step);
  if (!lookAt(context.now, fd, name) || !isSameContent(context.now, old)) return;
  if (rightsOf(context.now) === before) context.custody.giveBack(context.now, old);
}

/** What was there before the step, when it is in the stage exactly as the step took it out of the tree. */
function provenOld(
  context: PublishContext,
  step: Step,
  applied: AppliedStep | undefined,
): EntryRecord | null {
  const { old } = step;
  const record = applied?.kept[0]?.[1];
  if (applied?.isVouched !== true || record === undefined) return null;
  if (old === null || old.type === "directory") return null;
  const kept = context.keptOf(step);
  if (!lookAt(context.slot, kept.fd, kept.name)) return null;
  const isProven = isSameContent(context.slot, old) && context.custody.knows(context.slot, record);
  return isProven ? old : null;
}

function rightsOf({ permissions, uid, gid }: StatBuffer): string {
  return `${permissions} ${uid} ${gid}`;
}
