import { readSync, writeSync } from "node:fs";
import { SandboxPathError } from "../errors/index.ts";
import { displayPath, type BytePath } from "../model/byte-path.ts";
import {
  FILE_SYSTEM,
  NativeError,
  OPEN,
  StatBuffer,
  cloneFile,
  close,
  copyFileRange,
  ftruncate,
  getXattr,
  isErrno,
  listXattrs,
  openAt,
  seekData,
  seekHole,
  statFileSystem,
  throwUnlessErrno,
  unlinkAt,
} from "../platform/native/index.ts";
import {
  type AttributeLoss,
  type EntryAttributes,
  setAttributes,
  withoutSpecialBits,
} from "./entry-attributes.ts";
import { collectXattrs } from "./read-entry.ts";

/** How a file is copied. */
export interface CopyOptions {
  /** `auto`: share content where the file system can; `never`: independent bytes; `always`: share or fail. */
  readonly reflink: "auto" | "never" | "always";
  /** What the copy is given; left out, what the source has. */
  readonly attributes?: EntryAttributes;
  /** Whether setuid, setgid and sticky come along; they do not unless told. */
  readonly specialBits?: boolean;
}

/** What a copy did. */
export interface CopyResult {
  readonly bytes: number;
  readonly method: "reflink" | "kernel" | "read";
  readonly lost: AttributeLoss;
}

const ESTALE = 116;
const ENOTSUP = 95;
const CHUNK_BYTES = 1 << 20;
const KERNEL_CHUNK_BYTES = 1 << 30;
const CANNOT_COPY_IN_KERNEL = ["EXDEV", "EINVAL", "ENOSYS", "ENOTSUP", "EPERM"];

/** Where the kernel's own copy never shares blocks; elsewhere it may, unasked. */
const COPIES_BYTES: readonly number[] = [FILE_SYSTEM.ext, FILE_SYSTEM.tmpfs];

let chunk: Buffer | undefined;
let before: StatBuffer | undefined;
let opened: StatBuffer | undefined;

/**
 * Copies one regular file with content, holes, owner, attributes, mode and times into a new name, which nobody may
 * use before. The source is opened without following links, and what was opened must be what was looked at.
 * On failure the new name is gone again.
 * @throws NativeError ESTALE when the source was swapped or cut meanwhile, EEXIST when the new name is taken.
 * @throws SandboxPathError (`SANDBOX_PATH`, special or directory or symlink) for anything but a regular file.
 */
export function copyFileTo(
  sourceDirFd: number,
  sourceName: string,
  targetDirFd: number,
  targetName: string,
  options: CopyOptions,
): CopyResult {
  const stat = lookAtFile(sourceDirFd, sourceName);
  const flags = OPEN.readOnly | OPEN.noFollow | OPEN.nonBlocking;
  const sourceFd = openSwapSafe(sourceDirFd, sourceName, flags);
  try {
    opened ??= new StatBuffer();
    opened.readFd(sourceFd);
    if (opened.ino !== stat.ino || opened.dev !== stat.dev || opened.type !== "file")
      throw new NativeError(ESTALE, "open", sourceName);
    const wanted = options.attributes ?? attributesFrom(opened, sourceFd);
    const size = opened.sizeNumber;
    const isSparse = opened.blocks * 512 < size;
    const create = OPEN.writeOnly | OPEN.create | OPEN.exclusive | OPEN.noFollow;
    const targetFd = openAt(targetDirFd, targetName, create, 0o600);
    try {
      const method = copyContent(sourceFd, targetFd, size, isSparse, options.reflink, sourceName);
      const given = options.specialBits === true ? wanted : withoutSpecialBits(wanted);
      return { bytes: size, method, lost: setAttributes(targetFd, given) };
    } catch (error) {
      unlinkAt(targetDirFd, targetName);
      throw error;
    } finally {
      close(targetFd);
    }
  } finally {
    close(sourceFd);
  }
}

function lookAtFile(dirFd: number, name: string): StatBuffer {
  before ??= new StatBuffer();
  before.readAt(dirFd, name);
  const { type } = before;
  if (type === "file") return before;
  const reason = type === "directory" || type === "symlink" ? type : "special";
  throw new SandboxPathError("only a regular file can be copied", {
    data: { path: displayPath(name as BytePath), reason },
  });
}

function openSwapSafe(dirFd: number, name: string, flags: number): number {
  try {
    return openAt(dirFd, name, flags);
  } catch (error) {
    // It was a regular file a moment ago: a link gives ELOOP, a socket or a device without driver ENXIO.
    if (isErrno(error, "ELOOP", "ENXIO", "ENODEV")) throw new NativeError(ESTALE, "open", name);
    throw error;
  }
}

function attributesFrom(stat: StatBuffer, fd: number): EntryAttributes {
  return {
    mode: stat.permissions,
    uid: stat.uid,
    gid: stat.gid,
    atimeNs: stat.atimeNs,
    mtimeNs: stat.mtimeNs,
    xattrs: collectXattrs(listXattrs(fd), (attribute) => getXattr(fd, attribute)),
  };
}

function copyContent(
  sourceFd: number,
  targetFd: number,
  size: number,
  isSparse: boolean,
  reflink: CopyOptions["reflink"],
  name: string,
): CopyResult["method"] {
  if (reflink !== "never") {
    if (size === 0 || cloneFile(sourceFd, targetFd)) return "reflink";
    if (reflink === "always") throw new NativeError(ENOTSUP, "ioctl(FICLONE)", name);
  }
  let inKernel = reflink !== "never" || COPIES_BYTES.includes(statFileSystem(targetFd).type);
  const copyRange = (start: number, end: number): void => {
    const reached = inKernel ? copyInKernel(sourceFd, targetFd, start, end) : start;
    if (reached === end) return;
    inKernel = false;
    copyByReading(sourceFd, targetFd, reached, end, name);
  };
  if (isSparse) {
    for (let at: number | null = 0; at !== null && at < size;) {
      const start = seekData(sourceFd, at);
      if (start === null || start >= size) break;
      at = seekHole(sourceFd, start);
      copyRange(start, Math.min(at ?? size, size));
    }
    ftruncate(targetFd, size);
  } else if (size > 0) copyRange(0, size);
  return inKernel ? "kernel" : "read";
}

/** Gives how far the kernel got: the end, or less where it cannot copy between these two files. */
function copyInKernel(sourceFd: number, targetFd: number, start: number, end: number): number {
  let at = start;
  try {
    while (at < end) {
      const length = Math.min(end - at, KERNEL_CHUNK_BYTES);
      const copied = copyFileRange(sourceFd, at, targetFd, at, length);
      if (copied === 0) break;
      at += copied;
    }
  } catch (error) {
    throwUnlessErrno(error, ...CANNOT_COPY_IN_KERNEL);
  }
  return at;
}

function copyByReading(
  sourceFd: number,
  targetFd: number,
  start: number,
  end: number,
  name: string,
): void {
  chunk ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
  for (let at = start; at < end;) {
    const length = readSync(sourceFd, chunk, 0, Math.min(CHUNK_BYTES, end - at), at);
    // Somebody cut the file: the rest is neither its old content nor its new one.
    if (length === 0) throw new NativeError(ESTALE, "read", name);
    for (let written = 0; written < length;) {
      written += writeSync(targetFd, chunk, written, length - written, at + written);
    }
    at += length;
  }
}
