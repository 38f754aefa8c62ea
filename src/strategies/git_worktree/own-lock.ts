import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { futimens, isErrno } from "../../platform/native/index.ts";

/**
 * A lock file of git that this transaction holds. Its content has a second name that only we use: that is how it is known
 * to be ours in every process, also after a kill, and nobody else's lock is ever taken for it.
 */
export interface OwnLock {
  /** The second name, on the same file system. */
  readonly owner: string;
  /** What git looks at, such as `index.lock`. */
  readonly lock: string;
  /** What the lock protects, and what its content becomes. */
  readonly target: string;
  /** A file that has the mode of a target that is not there yet: repositories can be shared by many. */
  readonly model?: string;
}

/** Takes the lock, or recognises that it is held; false when somebody else has it. Durable. */
export function takeLock({ owner, lock }: OwnLock): boolean {
  if (isSame(owner, lock)) return true;
  // A name that was left over may still be one of what the lock protected before.
  rmSync(owner, { force: true });
  closeSync(openSync(owner, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600));
  mkdirSync(dirname(lock), { recursive: true });
  try {
    linkSync(owner, lock);
  } catch (error) {
    rmSync(owner, { force: true });
    if (!isErrno(error, "EEXIST")) throw error;
    return false;
  }
  syncFolderOf(lock);
  return true;
}

/** Whether the lock is held by this transaction. */
export function holdsLock({ owner, lock }: OwnLock): boolean {
  return isSame(owner, lock);
}

/**
 * Puts the content of the lock in the place of what it protects, which ends the lock. Durable. `mtimeNs` is the time that
 * the content is from, where that matters.
 */
export function publishLock(
  { owner, lock, target, model }: OwnLock,
  content: Uint8Array,
  mtimeNs: bigint | null = null,
): void {
  const like = lstatIfThere(target);
  const fd = openSync(owner, constants.O_WRONLY | constants.O_NOFOLLOW);
  try {
    ftruncateSync(fd, 0);
    writeFileSync(fd, content);
    if (like?.isFile() === true) takeAttributes(fd, like);
    else fchmodSync(fd, modeOf(model));
    if (mtimeNs !== null) futimens(fd, null, mtimeNs);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  if (like?.isDirectory() === true) removeEmptyFolders(target);
  renameSync(lock, target);
  syncFolderOf(target);
  removeOwner(owner);
}

/** What is left of longer names that git has refused; a packed branch needs no file of its own. */
function removeEmptyFolders(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeEmptyFolders(`${folder}/${entry.name}`);
  rmdirSync(folder);
}

/** Gives the lock back if it is ours. Idempotent. */
export function releaseLock({ owner, lock }: OwnLock): void {
  if (isSame(owner, lock)) {
    rmSync(lock);
    syncFolderOf(lock);
  }
  if (lstatIfThere(owner) !== null) removeOwner(owner);
}

/** Only when the lock is gone for good, which nobody would know to be ours otherwise; and for good, as nobody comes back. */
function removeOwner(owner: string): void {
  rmSync(owner, { force: true });
  syncFolderOf(owner);
}

function modeOf(model: string | undefined): number {
  const found = model === undefined ? null : lstatIfThere(model);
  return found?.isFile() === true ? found.mode & 0o666 : 0o666 & ~process.umask();
}

function takeAttributes(fd: number, like: Stats): void {
  fchmodSync(fd, like.mode & 0o7777);
  try {
    fchownSync(fd, like.uid, like.gid);
  } catch (error) {
    // An ordinary user cannot give files away; git's own files are then ours as well.
    if (!isErrno(error, "EPERM")) throw error;
  }
}

function isSame(owner: string, lock: string): boolean {
  const own = lstatIfThere(owner);
  const held = lstatIfThere(lock);
  return own !== null && held !== null && own.ino === held.ino && own.dev === held.dev;
}

function lstatIfThere(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}

function syncFolderOf(path: string): void {
  const fd = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
