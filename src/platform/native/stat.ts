import type { ByteName } from "./native-memory.ts";
import { type InodeType, StatBuffer } from "./stat-buffer.ts";

/** What the kernel tells about an entry. */
export interface NativeStat {
  readonly type: InodeType;
  /** Permission bits with setuid, setgid and sticky. */
  readonly mode: number;
  readonly nlink: number;
  readonly uid: number;
  readonly gid: number;
  readonly ino: bigint;
  /** The device as Node's `stat` gives it. */
  readonly dev: bigint;
  readonly rdevMajor: number;
  readonly rdevMinor: number;
  readonly size: bigint;
  /** Units of 512 bytes that the content takes on disk. */
  readonly blocks: number;
  readonly atimeNs: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  /** Birth time, or `null` where the file system keeps none. */
  readonly btimeNs: bigint | null;
  readonly mountId: number;
}

let shared: StatBuffer | undefined;

/** Asks about a name in a directory; a link itself, never its target, and nothing gets mounted by asking. */
export function statAt(dirFd: number, name: ByteName): NativeStat {
  shared ??= new StatBuffer();
  shared.readAt(dirFd, name);
  return snapshot(shared);
}

/** As `statAt`, but `null` instead of an error where there is no such entry: far cheaper than catching it. */
export function statIfThere(dirFd: number, name: ByteName): NativeStat | null {
  shared ??= new StatBuffer();
  return shared.readIfThere(dirFd, name) ? snapshot(shared) : null;
}

/** Asks about an open file or a handle (`OPEN.pathOnly`). */
export function statFd(fd: number): NativeStat {
  shared ??= new StatBuffer();
  shared.readFd(fd);
  return snapshot(shared);
}

/** A lasting copy of what the buffer holds. */
export function snapshot(buffer: StatBuffer): NativeStat {
  return {
    type: buffer.type,
    mode: buffer.permissions,
    nlink: buffer.nlink,
    uid: buffer.uid,
    gid: buffer.gid,
    ino: buffer.ino,
    dev: buffer.dev,
    rdevMajor: buffer.rdevMajor,
    rdevMinor: buffer.rdevMinor,
    size: buffer.size,
    blocks: buffer.blocks,
    atimeNs: buffer.atimeNs,
    mtimeNs: buffer.mtimeNs,
    ctimeNs: buffer.ctimeNs,
    btimeNs: buffer.btimeNs,
    mountId: buffer.mountId,
  };
}
