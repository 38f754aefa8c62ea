import { readFileSync } from "node:fs";
import { type BytePath, isWithin } from "../model/byte-path.ts";

/** One line of the kernel's mount table, every text byte-exact. */
export interface MountEntry {
  readonly mountId: number;
  readonly parentId: number;
  readonly devMajor: number;
  readonly devMinor: number;
  /** The directory of the file system that is mounted; `/` unless it is a bind mount or subvolume. */
  readonly root: BytePath;
  readonly mountPoint: BytePath;
  readonly fsType: string;
  readonly source: BytePath;
  /** Options of this mount, such as `rw` or `nosuid`. */
  readonly options: readonly string[];
  /**
   * Options of the file system, such as overlayfs's layers. A layer path keeps the escapes that the mount was made
   * with (`\:`, `\,`), because only the file system knows them.
   */
  readonly superOptions: readonly string[];
}

/** The mounts that this process sees, in the order of the kernel: what lies on top comes later. */
export function readMountTable(): MountEntry[] {
  return parseMountTable(readFileSync("/proc/self/mountinfo", "latin1"));
}

/** Parses the text of a `mountinfo` file, read as latin1. */
export function parseMountTable(text: string): MountEntry[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map(parseLine);
}

/** The mounts at or below an absolute path, the deepest and topmost first: the order in which to take them away. */
export function mountsBelow(
  path: BytePath,
  table: readonly MountEntry[] = readMountTable(),
): MountEntry[] {
  return table
    .filter((entry) => isWithin(entry.mountPoint, path))
    .toReversed()
    .sort((a, b) => b.mountPoint.length - a.mountPoint.length);
}

/** The visible mount whose mount point is exactly this absolute path; `undefined` if nothing is mounted there. */
export function mountAt(
  path: BytePath,
  table: readonly MountEntry[] = readMountTable(),
): MountEntry | undefined {
  const here = table.filter((entry) => entry.mountPoint === path);
  // Of several at one point the visible one is nobody's parent there; its place in the table does not tell.
  return here.findLast((entry) => !here.some((other) => other.parentId === entry.mountId));
}

/** The mount with this number, as `statAt` and `statFd` give it: the sure way from an open file to its mount. */
export function mountById(
  mountId: number,
  table: readonly MountEntry[] = readMountTable(),
): MountEntry | undefined {
  return table.find((entry) => entry.mountId === mountId);
}

function parseLine(line: string): MountEntry {
  const fields = line.split(" ");
  // Between the options and the separator stands any number of optional fields.
  const separator = fields.indexOf("-", 6);
  const field = (index: number): string => fields[index]!;
  const [major = "", minor = ""] = field(2).split(":");
  return {
    mountId: Number(field(0)),
    parentId: Number(field(1)),
    devMajor: Number(major),
    devMinor: Number(minor),
    root: unescape(field(3)),
    mountPoint: unescape(field(4)),
    options: field(5).split(","),
    fsType: unescape(field(separator + 1)),
    source: unescape(field(separator + 2)),
    superOptions: field(separator + 3)
      .split(",")
      .map(unescape),
  };
}

/** The kernel writes space, tab, newline, backslash and, where it separates, the comma as three octal digits. */
function unescape(text: string): BytePath {
  const plain = text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
  return plain as BytePath;
}
