import { createHash } from "node:crypto";
import { type RelativePath, ROOT } from "../../model/byte-path.ts";
import {
  type FileHandle,
  fileHandleAt,
  getXattr,
  getXattrAt,
  isSameHandle,
  parseOverlayOrigin,
  statFd,
} from "../../platform/native/index.ts";
import type { LayerStack } from "./layer-stack.ts";
import { type Dialect, markName, setMark } from "./marks.ts";

/** What our own copy of a base entry remembers of it. */
export interface BaseMark {
  /** Setuid, setgid and sticky bits that the copy was not given. */
  readonly specialBits: number;
  readonly ino: bigint;
  /** Null where the file system hands out no handles. */
  readonly handle: FileHandle | null;
  /** Names the path that was copied, so that a copy which was renamed later is recognised. */
  readonly pathKey: string;
}

/** A short name for a path, because an attribute has little room. */
export function pathKey(path: RelativePath): string {
  return createHash("sha256").update(path, "latin1").digest("hex").slice(0, 16);
}

/** What is remembered of an open entry of the real tree. */
export function describeBase(fd: number, path: RelativePath, specialBits = 0): BaseMark {
  return {
    specialBits,
    ino: statFd(fd).ino,
    handle: fileHandleAt(fd, ""),
    pathKey: pathKey(path),
  };
}

/** Says that there was a real entry at the path, and no more. */
export function pathMark(path: RelativePath): BaseMark {
  return { specialBits: 0, ino: 0n, handle: null, pathKey: pathKey(path) };
}

/** Writes the mark on an open file or folder of a layer. */
export function writeBaseMark(fd: number, dialect: Dialect, mark: BaseMark): void {
  setMark(fd, markName(dialect, "cofferdam"), encodeBaseMark(mark));
}

/** The value of the mark's attribute. */
export function encodeBaseMark({ specialBits, ino, handle, pathKey: key }: BaseMark): Buffer {
  const handleText = handle === null ? "" : `${handle.type}.${handle.bytes.toString("hex")}`;
  return Buffer.from([specialBits.toString(8), ino.toString(), handleText, key].join(":"));
}

/**
 * Notes on an open file of the upper layer that it stands for the real file at this path, if there is one, and which
 * special bits it was not given.
 */
export function markCopy(
  stack: LayerStack,
  fd: number,
  path: RelativePath,
  specialBits: number,
): void {
  const real = stack.statBase(path);
  const isCopy = real?.type === "file";
  if (!isCopy && specialBits === 0) return;
  const key = pathKey(isCopy ? path : ROOT);
  const ino = real?.ino ?? 0n;
  writeBaseMark(fd, stack.upper.dialect, { specialBits, ino, handle: null, pathKey: key });
}

/** The mark of an open folder; null when it has none. */
export function readBaseMark(fd: number, dialect: Dialect): BaseMark | null {
  return parseBaseMark(getXattr(fd, markName(dialect, "cofferdam")));
}

/** The mark of a name in an open folder; null when it has none. */
export function readBaseMarkAt(dirFd: number, name: string, dialect: Dialect): BaseMark | null {
  return parseBaseMark(getXattrAt(dirFd, name, markName(dialect, "cofferdam")));
}

function parseBaseMark(value: Buffer | undefined): BaseMark | null {
  const match = /^([0-7]{1,4}):(\d+):(?:(\d+)\.([0-9a-f]+))?:([0-9a-f]{16})$/.exec(
    value?.toString("latin1") ?? "",
  );
  if (match === null) return null;
  const [, bits = "0", ino = "0", type, bytes, key = ""] = match;
  return {
    specialBits: Number.parseInt(bits, 8),
    ino: BigInt(ino),
    handle:
      type === undefined || bytes === undefined
        ? null
        : { type: Number(type), bytes: Buffer.from(bytes, "hex") },
    pathKey: key,
  };
}

/** The handle of the entry that the kernel copied up, from its own mark; null when it left none. */
export function readOriginAt(dirFd: number, name: string, dialect: Dialect): FileHandle | null {
  const value = getXattrAt(dirFd, name, markName(dialect, "origin"));
  return value === undefined ? null : parseOverlayOrigin(value);
}

/** The same for an open folder. */
export function readOrigin(fd: number, dialect: Dialect): FileHandle | null {
  const value = getXattr(fd, markName(dialect, "origin"));
  return value === undefined ? null : parseOverlayOrigin(value);
}

/** Whether the mark speaks of this real entry, by handle where there is one, else by inode number. */
export function isMarkOf(mark: BaseMark, ino: bigint, handle: FileHandle | null): boolean {
  if (mark.handle !== null && handle !== null) return isSameHandle(mark.handle, handle);
  return mark.ino === ino;
}
