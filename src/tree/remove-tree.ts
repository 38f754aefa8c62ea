import { errnoOf } from "../errors/index.ts";
import type { BytePath } from "../model/byte-path.ts";
import { joinPath } from "../model/byte-path.ts";
import {
  type NativeStat,
  OPEN,
  chmodAt,
  close,
  fchmod,
  isErrno,
  openAt,
  readDirectory,
  rmdirAt,
  statAt,
  statFd,
  throwUnlessErrno,
  unlinkAt,
} from "../platform/native/index.ts";

/** Something that is still there after a removal, and why. */
export interface RemainingEntry {
  /** Begins with the name that was to be removed. */
  readonly path: BytePath;
  /** Name of the system error; `EXDEV` for another mount, which is never entered. */
  readonly code: string;
}

const FOLDER = OPEN.readOnly | OPEN.directory | OPEN.noFollow;
const OWNER_ACCESS = 0o700;

/**
 * Removes a name with everything below it. Never follows a link, never enters another mount or device, and gives
 * itself access to closed folders first. Idempotent; goes on after a failure and tells what could not be removed.
 */
export function removeTree(parentFd: number, name: string): RemainingEntry[] {
  const remaining: RemainingEntry[] = [];
  const parent = statFd(parentFd);
  attempt(remaining, name as BytePath, () => {
    const isFolder = statAt(parentFd, name).type === "directory";
    removeEntry({ parentFd, parent, name, isFolder, path: name as BytePath }, remaining);
  });
  return remaining;
}

interface Doomed {
  readonly parentFd: number;
  readonly parent: NativeStat;
  readonly name: string;
  readonly isFolder: boolean;
  readonly path: BytePath;
}

function removeEntry(doomed: Doomed, remaining: RemainingEntry[]): void {
  const { parentFd, name, path } = doomed;
  if (!doomed.isFolder) {
    unlinkAt(parentFd, name);
    return;
  }
  const count = remaining.length;
  const fd = openClosedFolder(parentFd, name);
  try {
    const stat = statFd(fd);
    if (stat.mountId !== doomed.parent.mountId || stat.dev !== doomed.parent.dev) {
      remaining.push({ path, code: "EXDEV" });
      return;
    }
    const entries = readDirectory(fd);
    if (entries.length > 0 && (stat.mode & OWNER_ACCESS) !== OWNER_ACCESS) {
      attempt(remaining, path, () => fchmod(fd, OWNER_ACCESS));
    }
    for (const entry of entries) {
      const below = joinPath(path, entry.name);
      const isFolder = entry.type === "directory";
      attempt(remaining, below, () =>
        removeEntry(
          { parentFd: fd, parent: stat, name: entry.name, isFolder, path: below },
          remaining,
        ),
      );
    }
  } finally {
    close(fd);
  }
  if (remaining.length === count) rmdirAt(parentFd, name);
}

function openClosedFolder(parentFd: number, name: string): number {
  try {
    return openAt(parentFd, name, FOLDER);
  } catch (error) {
    throwUnlessErrno(error, "EACCES");
    chmodAt(parentFd, name, OWNER_ACCESS);
    return openAt(parentFd, name, FOLDER);
  }
}

function attempt(remaining: RemainingEntry[], path: BytePath, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (isErrno(error, "ENOENT")) return;
    remaining.push({ path, code: errnoOf(error) ?? "UNKNOWN" });
  }
}
