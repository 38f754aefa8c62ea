import {
  type NativeStat,
  getXattrAt,
  listXattrsAt,
  readlinkAt,
  statAt,
  throwUnlessErrno,
} from "../platform/native/index.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { EntryType } from "../model/change.ts";
import type { InodeType } from "../platform/native/index.ts";
import type { Identity, SpecialKind, TreeEntry } from "./tree-entry.ts";

const OVERLAY_MARK = /^(?:trusted\.overlay|user\.overlay|user\.fuseoverlayfs)\./;

const SPECIAL_KINDS: Readonly<Partial<Record<InodeType, SpecialKind>>> = {
  fifo: "fifo",
  socket: "socket",
  characterDevice: "device",
  blockDevice: "device",
};

/** Whether an extended attribute is the overlay's own note, which never belongs to a real entry. */
export function isOverlayMark(attribute: string): boolean {
  return OVERLAY_MARK.test(attribute);
}

/** The kind of entry that an inode type counts as. */
export function entryType(type: InodeType): EntryType {
  return type === "file" || type === "directory" || type === "symlink" ? type : "special";
}

/** What lets somebody say later whether the entry still is the same, untouched one. */
export function identityOf(stat: NativeStat): Identity {
  return {
    type: entryType(stat.type),
    ino: stat.ino,
    size: Number(stat.size),
    mtimeNs: stat.mtimeNs,
    ctimeNs: stat.ctimeNs,
  };
}

/** The identity of a name in a directory; null when there is no such entry. */
export function findIdentity(dirFd: number, name: string): Identity | null {
  try {
    return identityOf(statAt(dirFd, name));
  } catch (error) {
    throwUnlessErrno(error, "ENOENT");
    return null;
  }
}

/**
 * Everything about one entry that can be told without opening it: a link itself, special files untouched, attributes
 * without overlay marks. `stat` and `attributes` save a second look at what was just read.
 * @throws NativeError ENOENT when there is no such entry.
 */
export function readEntry(
  dirFd: number,
  name: string,
  stat: NativeStat = statAt(dirFd, name),
  attributes: readonly string[] = listXattrsAt(dirFd, name),
): TreeEntry {
  const special = SPECIAL_KINDS[stat.type];
  return {
    type: entryType(stat.type),
    ...(special !== undefined && { special }),
    mode: stat.mode,
    uid: stat.uid,
    gid: stat.gid,
    nlink: stat.nlink,
    size: Number(stat.size),
    ino: stat.ino,
    dev: stat.dev,
    mtimeNs: stat.mtimeNs,
    ctimeNs: stat.ctimeNs,
    target: stat.type === "symlink" ? (readlinkAt(dirFd, name) as BytePath) : null,
    xattrs: collectXattrs(attributes, (attribute) => getXattrAt(dirFd, name, attribute)),
  };
}

/** The same as `readEntry`, but null when there is no such entry. */
export function findEntry(dirFd: number, name: string, stat?: NativeStat): TreeEntry | null {
  try {
    return readEntry(dirFd, name, stat);
  } catch (error) {
    throwUnlessErrno(error, "ENOENT");
    return null;
  }
}

/** Attributes by name, overlay marks and those that vanished meanwhile left out; null when none remain. */
export function collectXattrs(
  names: readonly string[],
  valueOf: (attribute: string) => Buffer | undefined,
): TreeEntry["xattrs"] {
  if (names.length === 0) return null;
  const found: Record<string, string> = {};
  for (const attribute of names) {
    const value = isOverlayMark(attribute) ? undefined : valueOf(attribute);
    if (value !== undefined) found[attribute] = value.toString("latin1");
  }
  return Object.keys(found).length === 0 ? null : found;
}
