import {
  fchmod,
  fsync,
  futimens,
  statFd,
  syncfs,
  throwUnlessErrno,
} from "../../platform/native/index.ts";
import { readFolderAttributes } from "../folder-attributes.ts";
import { setAttributes } from "../entry-attributes.ts";
import type { PublishContext } from "./publish-context.ts";
import { isEqual } from "./touched-folders.ts";

const OWNER_CHANGES = 0o300;
/** Up to so many folders are synced one by one; beyond that one sync of the file system is cheaper. */
const SYNCED_SINGLY = 8;

/** Which way the steps go. */
export type Direction = "apply" | "reverse";

/**
 * Lets an ordinary user work in their own folders whose mode forbids it; the super user needs nothing.
 * `settleFolder` gives every folder its mode back.
 */
export function loosenFolders(context: PublishContext): void {
  if (process.geteuid?.() === 0) return;
  for (const position of usedFolders(context)) {
    const fd = context.reachFolder(position);
    if (fd === null) continue;
    const { mode, uid } = statFd(fd);
    if (uid === process.geteuid?.() && (mode & OWNER_CHANGES) !== OWNER_CHANGES) {
      fchmod(fd, mode | OWNER_CHANGES);
    }
  }
}

/**
 * Gives a touched folder the attributes and the time that it has after the steps, or had before them. Idempotent. On
 * the way back a folder that somebody removed or replaced is left alone.
 */
export function settleFolder(
  context: PublishContext,
  position: number,
  direction: Direction,
): void {
  const folder = context.folderAt(position);
  const fd = direction === "apply" ? context.folderFd(position) : context.reachFolder(position);
  if (fd === null) return;
  const wanted = direction === "apply" ? (folder.after ?? folder.before) : folder.before;
  const now = readFolderAttributes(fd);
  if (folder.after !== null) {
    if (!isEqual(now, wanted)) setAttributes(fd, { ...wanted, atimeNs: null, mtimeNs: null });
  } else if (now.mode !== wanted.mode && now.mode === (wanted.mode | OWNER_CHANGES)) {
    // Only what `loosenFolders` may have opened; a foreign mode is none of our business.
    fchmod(fd, wanted.mode);
  }
  const mtimeNs = direction === "apply" ? folder.afterMtimeNs : folder.beforeMtimeNs;
  if (mtimeNs !== null && mtimeNs !== now.mtimeNs) setTime(fd, mtimeNs);
}

/** In a shared folder others may make and remove names, but only its owner may set its time. */
function setTime(fd: number, mtimeNs: bigint): void {
  try {
    futimens(fd, null, mtimeNs);
  } catch (error) {
    throwUnlessErrno(error, "EPERM");
  }
}

/** Makes all names and attributes that the steps changed durable. */
export function syncFolders(context: PublishContext): void {
  const { folders } = context.list;
  if (folders.length > SYNCED_SINGLY) {
    syncfs(context.root.fd);
    return;
  }
  for (const fd of context.stageFds()) fsync(fd);
  folders.forEach((_, position) => {
    const fd = context.reachFolder(position);
    if (fd !== null) fsync(fd);
  });
}

function usedFolders(context: PublishContext): Set<number> {
  return new Set(context.list.steps.map((step) => step.folder));
}
