import type { BytePath } from "../../model/byte-path.ts";
import {
  MODE,
  type NativeStat,
  chmodAt,
  fchmod,
  getXattr,
  getXattrAt,
  listXattrs,
  mknodAt,
  removeXattrAt,
  setXattr,
  setXattrAt,
  statAt,
  statFd,
  statIfThere,
  throwUnlessErrno,
} from "../../platform/native/index.ts";
import { type EntryAttributes, setAttributes } from "../../tree/entry-attributes.ts";
import { isOverlayMark } from "../../tree/read-entry.ts";

/** Whose extended attributes hold the marks: root's alone (`trusted.`), or those that any owner may set (`user.`). */
export type Dialect = "trusted" | "user";

/** How the marks of one layer are to be read. */
export interface LayerMarks {
  readonly dialect: Dialect;
  /** fuse-overlayfs has written here since the layer was last brought into the kernel's language. */
  readonly isFuse: boolean;
}

/** What a folder of a layer says about the folders below it. */
export interface FolderMarks {
  /** Nothing of the lower layers shows through. */
  readonly isOpaque: boolean;
  /** Empty files with the whiteout attribute stand for removed names here. */
  readonly hasFileWhiteouts: boolean;
  /** Where the lower layers hold this folder: a name beside it, or a path from the root with a leading slash. */
  readonly redirect: BytePath | null;
}

const MAX_NAME_BYTES = 255;
const OWNER_WRITE = 0o200;

/** fuse-overlayfs keeps names with this beginning for itself. */
export const FUSE_PREFIX = ".wh.";
/** Its second way of saying that a folder is opaque, next to an attribute. */
export const FUSE_OPAQUE_NAME = ".wh..wh..opq";
/** Its own attribute for that, where it may not write the kernel's. */
export const FUSE_OPAQUE_ATTRIBUTE = "user.fuseoverlayfs.opaque";

/** The extended attribute of a mark. Every view hides all attributes with these beginnings. */
export function markName(
  dialect: Dialect,
  mark: "opaque" | "redirect" | "origin" | "whiteout" | "metacopy" | "cofferdam",
): string {
  return `${dialect}.overlay.${mark}`;
}

/** Reads the marks of an open folder of a layer. */
export function readFolderMarks(fd: number, { dialect, isFuse }: LayerMarks): FolderMarks {
  const opaque = getXattr(fd, markName(dialect, "opaque"))?.toString("latin1");
  // Without root the kernel follows no redirect, and one found there was not written by it.
  const redirect = dialect === "trusted" ? getXattr(fd, markName(dialect, "redirect")) : undefined;
  return {
    isOpaque: opaque === "y" || (isFuse && isFuseOpaque(fd)),
    hasFileWhiteouts: opaque === "x",
    redirect: redirect === undefined ? null : checkedRedirect(redirect.toString("latin1")),
  };
}

function isFuseOpaque(fd: number): boolean {
  return (
    getXattr(fd, FUSE_OPAQUE_ATTRIBUTE)?.toString("latin1") === "y" ||
    findStat(fd, FUSE_OPAQUE_NAME) !== null
  );
}

/** The kernel ignores what is not a plain name or a clean absolute path, and so do we. */
function checkedRedirect(text: string): BytePath | null {
  const isAbsolute = text.startsWith("/");
  const parts = (isAbsolute ? text.slice(1) : text).split("/");
  const isClean = parts.every((part) => part !== "" && part !== "." && part !== "..");
  return isClean && (isAbsolute || parts.length === 1) ? (text as BytePath) : null;
}

/** Whether an entry of a layer stands for a removed name. */
export function isWhiteout(
  dirFd: number,
  name: string,
  stat: NativeStat,
  marks: LayerMarks,
  folder: FolderMarks,
): boolean {
  if (stat.type === "characterDevice") return stat.rdevMajor === 0 && stat.rdevMinor === 0;
  return (
    folder.hasFileWhiteouts &&
    stat.type === "file" &&
    stat.size === 0n &&
    getXattrAt(dirFd, name, markName(marks.dialect, "whiteout")) !== undefined
  );
}

/** What the kernel tells about a name, or null when there is none. */
export function findStat(dirFd: number, name: string): NativeStat | null {
  // A name with the prefix of fuse-overlayfs may be longer than any name can be.
  return name.length > MAX_NAME_BYTES ? null : statIfThere(dirFd, name);
}

/** Makes a whiteout; since Linux 5.8 this needs no privilege. */
export function makeWhiteout(dirFd: number, name: string): void {
  mknodAt(dirFd, name, MODE.characterDevice, 0, 0);
}

/** Says that nothing of the lower layers shows through an open folder. */
export function markOpaque(fd: number, dialect: Dialect): void {
  setMark(fd, markName(dialect, "opaque"), Buffer.from("y"));
}

/** Says where the lower layers hold an open folder; only root's dialect has such a mark. */
export function markRedirect(fd: number, path: BytePath): void {
  setMark(fd, markName("trusted", "redirect"), Buffer.from(`/${path}`, "latin1"));
}

/** Writes a mark on an open entry of a layer, also on one that its owner may not write. */
export function setMark(fd: number, name: string, value: Uint8Array): void {
  whileWritable(fd, () => setXattr(fd, name, value));
}

/** Writes a mark on a name of an open folder, also where its owner may not write the entry. */
export function setMarkAt(dirFd: number, name: string, mark: string, value: Uint8Array): void {
  whileEntryWritable(dirFd, name, () => setXattrAt(dirFd, name, mark, value));
}

/** Takes a mark off a name of an open folder. Idempotent. */
export function removeMarkAt(dirFd: number, name: string, mark: string): void {
  whileEntryWritable(dirFd, name, () => removeXattrAt(dirFd, name, mark));
}

function whileEntryWritable(dirFd: number, name: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throwUnlessErrno(error, "EACCES");
    const { mode } = statAt(dirFd, name);
    chmodAt(dirFd, name, mode | OWNER_WRITE);
    try {
      work();
    } finally {
      chmodAt(dirFd, name, mode);
    }
  }
}

/** Runs with write permission for the owner on an open entry of a layer. Root needs none, others do for attributes. */
export function whileWritable<T>(fd: number, work: () => T): T {
  const { mode } = statFd(fd);
  if ((mode & OWNER_WRITE) !== 0 || process.geteuid?.() === 0) return work();
  fchmod(fd, mode | OWNER_WRITE);
  try {
    return work();
  } finally {
    fchmod(fd, mode);
  }
}

/** Gives an open entry of a layer exactly these attributes, and lets it keep its marks. */
export function replaceAttributes(fd: number, attributes: EntryAttributes): void {
  const marks = listXattrs(fd)
    .filter(isOverlayMark)
    .map((name) => [name, getXattr(fd, name)] as const);
  whileWritable(fd, () => setAttributes(fd, attributes));
  for (const [name, value] of marks) if (value !== undefined) setMark(fd, name, value);
}
