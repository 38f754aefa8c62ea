import type { BytePath } from "../model/byte-path.ts";
import type { EntryType } from "../model/change.ts";

/** What a special file is. */
export type SpecialKind = "fifo" | "socket" | "device";

/** Everything the kernel tells about one entry without opening its content. */
export interface TreeEntry {
  readonly type: EntryType;
  readonly special?: SpecialKind;
  /** Permission bits including setuid, setgid and sticky. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly nlink: number;
  readonly size: number;
  readonly ino: bigint;
  readonly dev: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  /** Text of a symbolic link, else null. */
  readonly target: BytePath | null;
  /** Extended attributes including ACLs (never overlay marks): name to latin1 value; null when there are none. */
  readonly xattrs: Readonly<Record<string, string>> | null;
}

/**
 * Enough of an entry to say later whether it still is the same, untouched one. ctime cannot be set by a program, so
 * equal identities mean: nobody wrote, renamed, relinked or re-attributed it.
 */
export interface Identity {
  readonly type: EntryType;
  readonly ino: bigint;
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** Whether both are the same entry in the same state. Sizes of directories are the file system's own affair. */
export function sameIdentity(a: Identity, b: Identity): boolean {
  return (
    a.type === b.type &&
    a.ino === b.ino &&
    a.ctimeNs === b.ctimeNs &&
    a.mtimeNs === b.mtimeNs &&
    (a.type === "directory" || a.size === b.size)
  );
}

/** The same, but it may have been moved away and back, or linked, which changes its change time alone. */
export function sameButChangeTime(a: Identity, b: Identity): boolean {
  return (
    a.type === b.type &&
    a.ino === b.ino &&
    (a.type === "directory" || (a.size === b.size && a.mtimeNs === b.mtimeNs))
  );
}

/** Whether two entries agree in everything that is published except content, times and link text. */
export function sameAttributes(a: TreeEntry, b: TreeEntry): boolean {
  return a.mode === b.mode && a.uid === b.uid && a.gid === b.gid && sameXattrs(a.xattrs, b.xattrs);
}

/** Whether two sets of extended attributes are equal. */
export function sameXattrs(a: TreeEntry["xattrs"], b: TreeEntry["xattrs"]): boolean {
  const left = Object.entries(a ?? {});
  const right = b ?? {};
  return (
    left.length === Object.keys(right).length &&
    left.every(([name, value]) => right[name] === value)
  );
}
