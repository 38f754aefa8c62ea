import { NativeError, type StatBuffer, loadNative } from "../../platform/native/index.ts";
import type { EntryType } from "../../model/change.ts";
import { entryType } from "../read-entry.ts";
import type { TreeEntry } from "../tree-entry.ts";

const ENOENT = 2;

/** A file, link or special file as it was; nobody can touch it without changing ctime. */
export interface LeafRecord {
  readonly type: Exclude<EntryType, "directory">;
  readonly ino: bigint;
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** A directory as it was. */
export interface FolderRecord {
  readonly type: "directory";
  readonly ino: bigint;
  /** For putting it back, not for comparing: it changes with every unrelated name in the directory. */
  readonly mtimeNs: bigint;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** What is remembered of an entry in order to recognise it. */
export type EntryRecord = LeafRecord | FolderRecord;

/** Asks about a name; false when there is no such entry, without the cost of an exception. */
export function lookAt(into: StatBuffer, dirFd: number, name: string): boolean {
  const errno = into.readAddress(dirFd, loadNative().first.putName(name, "statx"));
  if (errno === 0) return true;
  if (errno === ENOENT) return false;
  throw new NativeError(errno, "statx", name);
}

/** The record of what was just looked at. */
export function recordOf(stat: StatBuffer): EntryRecord {
  const type = entryType(stat.type);
  const { ino, mtimeNs } = stat;
  if (type === "directory") {
    return { type, ino, mtimeNs, mode: stat.permissions, uid: stat.uid, gid: stat.gid };
  }
  return { type, ino, size: stat.sizeNumber, mtimeNs, ctimeNs: stat.ctimeNs };
}

/** The record of an entry that somebody read before. */
export function recordOfEntry(entry: TreeEntry): EntryRecord {
  const { type, ino, mode, uid, gid, size, mtimeNs, ctimeNs } = entry;
  return type === "directory"
    ? { type, ino, mtimeNs, mode, uid, gid }
    : { type, ino, size, mtimeNs, ctimeNs };
}

/** Whether what was looked at is the recorded entry, untouched. */
export function isSameEntry(stat: StatBuffer, record: EntryRecord): boolean {
  return (
    isSameContent(stat, record) && (record.type === "directory" || stat.ctimeNs === record.ctimeNs)
  );
}

/** The same, but renaming or linking it meanwhile, which moves ctime, does not count. */
export function isSameContent(stat: StatBuffer, record: EntryRecord): boolean {
  if (stat.ino !== record.ino || entryType(stat.type) !== record.type) return false;
  if (record.type === "directory") {
    return stat.permissions === record.mode && stat.uid === record.uid && stat.gid === record.gid;
  }
  return stat.sizeNumber === record.size && stat.mtimeNs === record.mtimeNs;
}
