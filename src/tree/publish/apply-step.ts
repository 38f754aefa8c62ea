import { nameOf, parentOf } from "../../model/byte-path.ts";
import {
  NativeError,
  fchmod,
  futimens,
  isErrno,
  linkAt,
  statFd,
  symlinkAt,
  throwUnlessErrno,
  unlinkAt,
} from "../../platform/native/index.ts";
import { copyFileTo } from "../copy-entry.ts";
import { attributesOf, setLinkAttributes } from "../entry-attributes.ts";
import { readEntry } from "../read-entry.ts";
import { lookAt } from "./entry-record.ts";
import { exchangeEntries, moveEntry, renameOver } from "./move-entry.ts";
import type { PublishContext } from "./publish-context.ts";
import type { StagedLink, Step } from "./step.ts";

const ESTALE = 116;
const ATTEMPTS = 20;

/**
 * Publishes one step, or recognises that it is done. Whatever was at the path ends in the stage, also what nobody
 * expected there.
 */
export function applyStep(context: PublishContext, step: Step): void {
  // A foreign writer may create or remove the name between the look and the rename; each time the answer is another.
  for (let attempt = 1; ; attempt++) {
    try {
      if (step.staged === null) takeAway(context, step);
      else publish(context, step, step.staged.ino, attempt === 1);
      return;
    } catch (error) {
      const isRace = isErrno(error, "EEXIST", "ENOENT");
      if (!isRace || attempt === ATTEMPTS || isGone(context, step)) throw error;
    }
  }
}

/** Whether the step cannot be done at all because its folder has gone. */
function isGone(context: PublishContext, step: Step): boolean {
  return statFd(context.placeOf(step).fd).nlink === 0;
}

function takeAway(context: PublishContext, step: Step): void {
  const [place, kept] = [context.placeOf(step), context.slotOf(step)];
  if (!lookAt(context.now, place.fd, place.name)) return;
  // Something in the stage means that the step is done; what is at the path now is somebody's new entry, or the same
  // file when the move was cut short between its two names.
  const isKept = lookAt(context.slot, kept.fd, kept.name);
  if (isKept && context.slot.ino !== context.now.ino) return;
  takingOut(context, step, () => {
    moveEntry(place.fd, place.name, kept.fd, kept.name);
    return true;
  });
}

/** Takes out what was just looked at, and remembers whether it was what the step expects. */
function takingOut(context: PublishContext, step: Step, work: () => boolean): boolean {
  const { custody, now, slot } = context;
  const isKnown = step.old !== null && custody.knows(now, step.old);
  if (!work()) return false;
  if (!isKnown) return true;
  custody.vouch(step.slot);
  if (now.nlink > 1 && now.type !== "directory") {
    // The next step may take out a further name of the same file.
    const kept = context.keptOf(step);
    if (lookAt(slot, kept.fd, kept.name) && slot.ino === now.ino) custody.keep(slot);
  }
  return true;
}

function publish(context: PublishContext, step: Step, ino: bigint, isFirst: boolean): void {
  const [place, staged] = [context.placeOf(step), context.slotOf(step)];
  const isTaken = lookAt(context.now, place.fd, place.name);
  if (isTaken && context.now.ino === ino) {
    const isDouble = lookAt(context.slot, staged.fd, staged.name) && context.slot.ino === ino;
    if (isDouble) unlinkAt(staged.fd, staged.name);
    return;
  }
  const isUntouched = isTaken && context.now.ino === step.old?.ino && step.links.length === 0;
  const exchange = (): boolean => takingOut(context, step, () => exchangeEntries(staged, place));
  if (isFirst && isUntouched && context.mode === "exchange" && exchange()) return;
  for (const link of step.links) makeLink(context, link);
  // Neither here nor there: it was published, and somebody removed or replaced it since.
  const isStaged = lookAt(context.slot, staged.fd, staged.name) && context.slot.ino === ino;
  if (!isStaged) return;
  if (!isTaken) moveEntry(staged.fd, staged.name, place.fd, place.name);
  else if (context.mode === "link" || !exchange()) {
    takingOut(context, step, () => {
      replaceByLink(context, step);
      return true;
    });
  }
}

/** Keeps the old entry under a further name, then renames the new one over it. */
function replaceByLink(context: PublishContext, step: Step): void {
  context.useLinks();
  const [place, staged, kept] = [context.placeOf(step), context.slotOf(step), context.keptOf(step)];
  if (context.now.type === "directory" || context.slot.type === "directory") {
    moveEntry(place.fd, place.name, kept.fd, kept.name);
    moveEntry(staged.fd, staged.name, place.fd, place.name);
    return;
  }
  if (lookAt(context.slot, kept.fd, kept.name)) unlinkAt(kept.fd, kept.name);
  try {
    linkAt(place.fd, place.name, kept.fd, kept.name);
  } catch (error) {
    // Files of others may not be linked (fs.protected_hardlinks), and a file can have only so many names.
    throwUnlessErrno(error, "EPERM", "EMLINK", "ENOTSUP");
    if (context.now.type === "symlink") {
      const link = readEntry(place.fd, place.name);
      symlinkAt(link.target!, kept.fd, kept.name);
      setLinkAttributes(kept.fd, kept.name, attributesOf(link));
    } else {
      copyFileTo(place.fd, place.name, kept.fd, kept.name, { reflink: "auto", specialBits: true });
    }
  }
  renameOver(staged, place);
}

/** Gives a real file its further name in the stage, leaving the staged folder as it is meant to be published. */
function makeLink(context: PublishContext, link: StagedLink): void {
  const { staged, target, record, folder } = link;
  const fd = context.stage.entries.open(parentOf(staged));
  const name = nameOf(staged);
  if (!lookAt(context.slot, fd, name)) {
    if (folder !== null && process.geteuid?.() !== 0) fchmod(fd, folder.mode | 0o300);
    linkAt(context.root.folders.open(parentOf(target)), nameOf(target), fd, name);
    context.slot.readAt(fd, name);
  }
  if (context.slot.ino !== record.ino) {
    unlinkAt(fd, name);
    throw new NativeError(ESTALE, "linkat", target);
  }
  if (folder !== null) {
    fchmod(fd, folder.mode);
    futimens(fd, null, folder.mtimeNs);
  }
}
