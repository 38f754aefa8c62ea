import { renameSync } from "node:fs";
import type { ByteName } from "../../platform/native/index.ts";
import {
  NativeError,
  RENAME,
  chmodAt,
  isErrno,
  linkAt,
  renameAt,
  statAt,
  throwUnlessErrno,
  unlinkAt,
} from "../../platform/native/index.ts";

const EEXIST = 17;
const OWNER_WRITE = 0o200;
/** What file systems say to a flag of `renameat2` that they do not know. */
const NO_SUCH_FLAG = ["EINVAL", "ENOSYS", "ENOTSUP"];

/** One side of a rename. */
export interface Place {
  readonly fd: number;
  readonly name: string;
}

/**
 * Renames to a name that must be free, also where the file system cannot promise that by itself. Finishes a move that
 * was cut short there, when the file has both names.
 * @throws NativeError EEXIST when the name is taken.
 */
export function moveEntry(fromFd: number, from: string, toFd: number, to: string): void {
  loosened({ fd: fromFd, name: from }, { fd: toFd, name: to }, () => {
    try {
      renameAt(fromFd, from, toFd, to, RENAME.noReplace);
    } catch (error) {
      if (isErrno(error, ...NO_SUCH_FLAG)) moveByLink(fromFd, from, toFd, to);
      else if (!isErrno(error, "EEXIST") || !isSameFile(fromFd, from, toFd, to)) throw error;
      else unlinkAt(fromFd, from);
    }
    return true;
  });
}

/** Exchanges two entries in one step; false where the file system cannot. */
export function exchangeEntries(a: Place, b: Place): boolean {
  return loosened(a, b, () => {
    try {
      renameAt(a.fd, a.name, b.fd, b.name, RENAME.exchange);
      return true;
    } catch (error) {
      throwUnlessErrno(error, ...NO_SUCH_FLAG);
      return false;
    }
  });
}

/** Renames over whatever is there, without any flag. */
export function renameOver(from: Place, to: Place): void {
  loosened(from, to, () => {
    renameSync(plainPath(from), plainPath(to));
    return true;
  });
}

/** A path for calls that know no descriptors; its last part is never followed by a rename. */
function plainPath({ fd, name }: Place): Buffer {
  return Buffer.from(`/proc/self/fd/${fd}/${name}`, "latin1");
}

function moveByLink(fromFd: number, from: string, toFd: number, to: string): void {
  if (statAt(fromFd, from).type === "directory") {
    if (isThere(toFd, to)) throw new NativeError(EEXIST, "rename", from, to);
    renameSync(plainPath({ fd: fromFd, name: from }), plainPath({ fd: toFd, name: to }));
    return;
  }
  if (!isSameFile(fromFd, from, toFd, to)) linkAt(fromFd, from, toFd, to);
  unlinkAt(fromFd, from);
}

/** Whether both names lead to one file. */
function isSameFile(fromFd: number, from: string, toFd: number, to: string): boolean {
  if (!isThere(toFd, to)) return false;
  const [one, other] = [statAt(fromFd, from), statAt(toFd, to)];
  return one.ino === other.ino && one.dev === other.dev && one.type !== "directory";
}

function isThere(fd: number, name: ByteName): boolean {
  try {
    statAt(fd, name);
    return true;
  } catch (error) {
    throwUnlessErrno(error, "ENOENT");
    return false;
  }
}

/**
 * A directory that changes its parent must be writable for its owner, who is not the super user: such directories are
 * opened for the moment of the rename. A crash in between is put right when the steps are finished.
 */
function loosened(a: Place, b: Place, rename: () => boolean): boolean {
  try {
    return rename();
  } catch (error) {
    throwUnlessErrno(error, "EACCES");
  }
  const [modeA, modeB] = [loosen(a), loosen(b)];
  let isDone = false;
  try {
    isDone = rename();
    return isDone;
  } finally {
    const [placeA, placeB] = isDone ? [b, a] : [a, b];
    if (modeA !== null) chmodAt(placeA.fd, placeA.name, modeA);
    if (modeB !== null) chmodAt(placeB.fd, placeB.name, modeB);
  }
}

/** Lets the owner write into a directory; gives the mode before, or null when that was not what hindered. */
function loosen({ fd, name }: Place): number | null {
  if (!isThere(fd, name)) return null;
  const { type, mode } = statAt(fd, name);
  if (type !== "directory" || (mode & OWNER_WRITE) !== 0) return null;
  try {
    chmodAt(fd, name, mode | OWNER_WRITE);
    return mode;
  } catch (error) {
    throwUnlessErrno(error, "EPERM");
    return null;
  }
}
