import { AT, ERRNO, OPEN, RENAME } from "./constants.ts";
import { loadNative } from "./load-native.ts";
import { NativeError } from "./native-error.ts";
import { type ByteName, MAX_PATH_BYTES, nameText } from "./native-memory.ts";
import { deviceNumber } from "./stat-buffer.ts";

const RESOLVE_NO_MAGICLINKS = 0x02;
const RESOLVE_NO_SYMLINKS = 0x04;
const RESOLVE_BENEATH = 0x08;
const OPEN_HOW_BYTES = 24;

/**
 * Opens a path below a root; neither `..`, nor an absolute path, nor a link anywhere on the way leads out.
 * The empty path and `.` reopen the root. The caller closes the descriptor.
 * @throws NativeError EXDEV for a path that leaves the root, ELOOP for a link on the way.
 */
export function openBeneath(rootFd: number, path: ByteName, flags: number, mode = 0): number {
  const native = loadNative();
  const address = native.first.putName(path.length === 0 ? "." : path, "openat2");
  const how = native.second;
  how.bytes.writeBigUInt64LE(BigInt(flags | OPEN.closeOnExec), 0);
  how.bytes.writeBigUInt64LE(BigInt(mode), 8);
  how.bytes.writeBigUInt64LE(
    BigInt(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS),
    16,
  );
  for (;;) {
    const fd = native.calls.syscall(
      native.numbers.openat2,
      rootFd,
      address,
      how.address,
      OPEN_HOW_BYTES,
      0,
    );
    if (fd >= 0) return fd;
    const errno = native.errno();
    // EAGAIN: a rename or mount elsewhere raced with the look-up and the kernel could not prove the path.
    if (errno !== ERRNO.EINTR && errno !== ERRNO.EAGAIN)
      throw new NativeError(errno, "openat2", nameText(path));
  }
}

/** Opens a name in a directory, never inherited by programs. The caller closes the descriptor. */
export function openAt(dirFd: number, name: ByteName, flags: number, mode = 0): number {
  const native = loadNative();
  const address = native.first.putName(name, "openat");
  for (;;) {
    const fd = native.calls.openat(dirFd, address, flags | OPEN.closeOnExec, mode);
    if (fd >= 0) return fd;
    const errno = native.errno();
    if (errno !== ERRNO.EINTR) throw new NativeError(errno, "openat", nameText(name));
  }
}

/** Closes a descriptor. An interrupted close is done: the kernel has released the number already. */
export function close(fd: number): void {
  const native = loadNative();
  if (native.calls.close(fd) < 0) {
    const errno = native.errno();
    if (errno !== ERRNO.EINTR) throw new NativeError(errno, "close");
  }
}

/** Makes a directory. */
export function mkdirAt(dirFd: number, name: ByteName, mode = 0o777): void {
  const native = loadNative();
  if (native.calls.mkdirat(dirFd, native.first.putName(name, "mkdirat"), mode) < 0) {
    throw new NativeError(native.errno(), "mkdirat", nameText(name));
  }
}

/** Removes a name that is not a directory; a link goes, never its target. */
export function unlinkAt(dirFd: number, name: ByteName): void {
  const native = loadNative();
  if (native.calls.unlinkat(dirFd, native.first.putName(name, "unlinkat"), 0) < 0) {
    throw new NativeError(native.errno(), "unlinkat", nameText(name));
  }
}

/** Removes an empty directory. */
export function rmdirAt(dirFd: number, name: ByteName): void {
  const native = loadNative();
  if (native.calls.unlinkat(dirFd, native.first.putName(name, "rmdir"), AT.removeDirectory) < 0) {
    throw new NativeError(native.errno(), "rmdir", nameText(name));
  }
}

/** Makes a symbolic link with exactly this text. */
export function symlinkAt(target: ByteName, dirFd: number, name: ByteName): void {
  const native = loadNative();
  const text = native.first.putName(target, "symlinkat");
  if (native.calls.symlinkat(text, dirFd, native.second.putName(name, "symlinkat")) < 0) {
    throw new NativeError(native.errno(), "symlinkat", nameText(target), nameText(name));
  }
}

/** The text of a symbolic link, byte-exact; with an empty name, of the link that `dirFd` itself is a handle on. */
export function readlinkAt(dirFd: number, name: ByteName): string {
  const native = loadNative();
  const address = native.first.putName(name, "readlinkat");
  const length = native.calls.readlinkat(dirFd, address, native.block.address, MAX_PATH_BYTES + 1);
  if (length < 0) throw new NativeError(native.errno(), "readlinkat", nameText(name));
  return native.block.text(length);
}

/** Gives an entry a further name; a symbolic link is linked itself, never its target. */
export function linkAt(
  oldDirFd: number,
  oldName: ByteName,
  newDirFd: number,
  newName: ByteName,
): void {
  link(oldDirFd, oldName, newDirFd, newName, 0);
}

/** Gives an open file a name, also one that was opened without any (`OPEN.temporary`). */
export function linkFd(fd: number, newDirFd: number, newName: ByteName): void {
  // Through /proc, because AT_EMPTY_PATH needs a capability that ordinary users lack.
  link(AT.workingDirectory, `/proc/self/fd/${fd}`, newDirFd, newName, AT.symlinkFollow);
}

function link(
  oldDirFd: number,
  oldName: ByteName,
  newDirFd: number,
  newName: ByteName,
  flags: number,
): void {
  const native = loadNative();
  const from = native.first.putName(oldName, "linkat");
  const to = native.second.putName(newName, "linkat");
  if (native.calls.linkat(oldDirFd, from, newDirFd, to, flags) < 0) {
    throw new NativeError(native.errno(), "linkat", nameText(oldName), nameText(newName));
  }
}

/** Makes a file, fifo, socket or device node; `mode` carries the type bits. Device 0:0 is overlayfs's whiteout. */
export function mknodAt(dirFd: number, name: ByteName, mode: number, major = 0, minor = 0): void {
  const native = loadNative();
  const address = native.first.putName(name, "mknodat");
  const device = Number(deviceNumber(major, minor));
  if (native.calls.syscall(native.numbers.mknodat, dirFd, address, mode, device, 0) < 0) {
    throw new NativeError(native.errno(), "mknodat", nameText(name));
  }
}

/**
 * Renames in one step, with a flag of `RENAME`: replace, refuse to replace (EEXIST), exchange both, leave a whiteout.
 * A link is renamed itself, never its target.
 */
export function renameAt(
  oldDirFd: number,
  oldName: ByteName,
  newDirFd: number,
  newName: ByteName,
  flags: number = RENAME.replace,
): void {
  const native = loadNative();
  const from = native.first.putName(oldName, "renameat2");
  const to = native.second.putName(newName, "renameat2");
  if (native.calls.renameat2(oldDirFd, from, newDirFd, to, flags) < 0) {
    throw new NativeError(native.errno(), "renameat2", nameText(oldName), nameText(newName));
  }
}
