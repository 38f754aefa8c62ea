import { ERRNO } from "./constants.ts";
import { loadNative } from "./load-native.ts";
import { NativeError } from "./native-error.ts";

const FICLONE = 0x40049409;
const SEEK_DATA = 3;
const SEEK_HOLE = 4;
const CANNOT_CLONE = new Set<number>([
  ERRNO.EXDEV,
  ERRNO.EINVAL,
  ERRNO.ENOTTY,
  ERRNO.ENOSYS,
  ERRNO.EOPNOTSUPP,
]);

/** Modes of `fallocate`: reserve and grow, reserve only, free the range, zero the range. */
export const FALLOCATE = { grow: 0, keepSize: 1, punchHole: 3, zeroRange: 0x10 } as const;

/** Makes one file share the other's content (reflink); false where this file system or this pair of files cannot. */
export function cloneFile(sourceFd: number, destinationFd: number): boolean {
  const native = loadNative();
  if (native.calls.ioctl(destinationFd, FICLONE, sourceFd) >= 0) return true;
  const errno = native.errno();
  if (CANNOT_CLONE.has(errno)) return false;
  throw new NativeError(errno, "ioctl(FICLONE)");
}

/**
 * Copies a range inside the kernel and gives how many bytes were copied, 0 at the end of the source; may be fewer than
 * asked for. Neither descriptor's position moves.
 */
export function copyFileRange(
  sourceFd: number,
  sourceOffset: number,
  destinationFd: number,
  destinationOffset: number,
  length: number,
): number {
  const native = loadNative();
  const offsets = native.first;
  for (;;) {
    offsets.bytes.writeBigInt64LE(BigInt(sourceOffset), 0);
    offsets.bytes.writeBigInt64LE(BigInt(destinationOffset), 8);
    const { address } = offsets;
    const copied = native.calls.copy_file_range(
      sourceFd,
      address,
      destinationFd,
      address + 8,
      length,
      0,
    );
    if (copied >= 0) return copied;
    const errno = native.errno();
    if (errno !== ERRNO.EINTR) throw new NativeError(errno, "copy_file_range");
  }
}

/** Where the next data at or after the offset begins, or `null` if only a hole follows. Moves the position. */
export function seekData(fd: number, offset: number): number | null {
  return seek(fd, offset, SEEK_DATA);
}

/** Where the next hole at or after the offset begins (the end counts as one), or `null` past the end. */
export function seekHole(fd: number, offset: number): number | null {
  return seek(fd, offset, SEEK_HOLE);
}

function seek(fd: number, offset: number, whence: number): number | null {
  const native = loadNative();
  const position = native.calls.lseek(fd, offset, whence);
  if (position >= 0) return position;
  const errno = native.errno();
  if (errno === ERRNO.ENXIO) return null;
  throw new NativeError(errno, "lseek");
}

/** Sets the length of an open file; what is added is a hole. */
export function ftruncate(fd: number, length: number): void {
  const native = loadNative();
  while (native.calls.ftruncate(fd, length) < 0) {
    const errno = native.errno();
    if (errno !== ERRNO.EINTR) throw new NativeError(errno, "ftruncate");
  }
}

/** Reserves, frees or zeroes a range of an open file, with a mode of `FALLOCATE`. */
export function fallocate(fd: number, mode: number, offset: number, length: number): void {
  const native = loadNative();
  while (native.calls.fallocate(fd, mode, offset, length) < 0) {
    const errno = native.errno();
    if (errno !== ERRNO.EINTR) throw new NativeError(errno, "fallocate");
  }
}
