import { AT, ERRNO, MODE, OPEN } from "./constants.ts";
import { loadNative, type Native } from "./load-native.ts";
import { NativeError } from "./native-error.ts";
import { type ByteName, nameText } from "./native-memory.ts";
import { close, openAt } from "./paths.ts";
import { statFd } from "./stat.ts";

const UTIME_OMIT = 0x3ffffffe;
const NANOSECONDS = 1_000_000_000n;

/** Sets the permission bits, special bits included, of an open file. */
export function fchmod(fd: number, mode: number): void {
  const native = loadNative();
  if (native.calls.fchmod(fd, mode) < 0) throw new NativeError(native.errno(), "fchmod");
}

/**
 * Sets the permission bits of an entry; a symbolic link is refused, never followed.
 * @throws NativeError ENOTSUP for a symbolic link.
 */
export function chmodAt(dirFd: number, name: ByteName, mode: number): void {
  const native = loadNative();
  const address = native.first.putName(name, "fchmodat2");
  const number = native.numbers.fchmodat2;
  if (native.calls.syscall(number, dirFd, address, mode, AT.symlinkNoFollow, 0) >= 0) return;
  const errno = native.errno();
  if (errno !== ERRNO.ENOSYS) throw new NativeError(errno, "fchmodat2", nameText(name));
  chmodThroughHandle(dirFd, name, mode);
}

/**
 * The way of kernels before 6.6: a handle on the entry itself, then its magic name, which leads to exactly that inode.
 */
export function chmodThroughHandle(dirFd: number, name: ByteName, mode: number): void {
  const native = loadNative();
  const fd = openAt(dirFd, name, OPEN.pathOnly | OPEN.noFollow);
  try {
    if (statFd(fd).type === "symlink")
      throw new NativeError(ERRNO.EOPNOTSUPP, "chmod", nameText(name));
    if (
      native.calls.chmod(
        native.first.putName(`/proc/self/fd/${fd}`, "chmod"),
        mode & MODE.permissionMask,
      ) < 0
    ) {
      throw new NativeError(native.errno(), "chmod", nameText(name));
    }
  } finally {
    close(fd);
  }
}

/** Sets owner and group of an open file. The kernel clears setuid and setgid: set the mode afterwards. */
export function fchown(fd: number, uid: number, gid: number): void {
  const native = loadNative();
  if (native.calls.fchown(fd, uid, gid) < 0) throw new NativeError(native.errno(), "fchown");
}

/** Sets owner and group of an entry; of a link itself, never of its target. */
export function chownAt(dirFd: number, name: ByteName, uid: number, gid: number): void {
  const native = loadNative();
  const address = native.first.putName(name, "fchownat");
  if (native.calls.fchownat(dirFd, address, uid, gid, AT.symlinkNoFollow) < 0) {
    throw new NativeError(native.errno(), "fchownat", nameText(name));
  }
}

/** Sets the times of an open file in nanoseconds since 1970; `null` leaves one as it is. */
export function futimens(fd: number, atimeNs: bigint | null, mtimeNs: bigint | null): void {
  const native = loadNative();
  if (native.calls.futimens(fd, putTimes(native, atimeNs, mtimeNs)) < 0) {
    throw new NativeError(native.errno(), "futimens");
  }
}

/** Sets the times of an entry in nanoseconds since 1970, of a link itself; `null` leaves one as it is. */
export function utimensAt(
  dirFd: number,
  name: ByteName,
  atimeNs: bigint | null,
  mtimeNs: bigint | null,
): void {
  const native = loadNative();
  const address = native.first.putName(name, "utimensat");
  if (
    native.calls.utimensat(dirFd, address, putTimes(native, atimeNs, mtimeNs), AT.symlinkNoFollow) <
    0
  ) {
    throw new NativeError(native.errno(), "utimensat", nameText(name));
  }
}

function putTimes(native: Native, atimeNs: bigint | null, mtimeNs: bigint | null): number {
  putTime(native.second.bytes, 0, atimeNs);
  putTime(native.second.bytes, 16, mtimeNs);
  return native.second.address;
}

function putTime(bytes: Buffer, offset: number, time: bigint | null): void {
  // Times before 1970 count nanoseconds upwards from a negative second.
  const nanoseconds =
    time === null ? BigInt(UTIME_OMIT) : ((time % NANOSECONDS) + NANOSECONDS) % NANOSECONDS;
  const seconds = time === null ? 0n : (time - nanoseconds) / NANOSECONDS;
  bytes.writeBigInt64LE(seconds, offset);
  bytes.writeBigInt64LE(nanoseconds, offset + 8);
}
