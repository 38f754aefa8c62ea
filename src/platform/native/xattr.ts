import { AT, ERRNO } from "./constants.ts";
import { loadNative, type Native } from "./load-native.ts";
import { NativeError } from "./native-error.ts";
import { type ByteName, nameText } from "./native-memory.ts";

/** Flags of the setters: whatever is there, only if absent (EEXIST), only if present (ENODATA). */
export const XATTR = { any: 0, create: 1, replace: 2 } as const;

/**
 * Names of an entry's extended attributes, sorted; a link's own, never its target's.
 * Empty where the file system has no attributes. Needs `/proc`.
 */
export function listXattrsAt(dirFd: number, name: ByteName): string[] {
  const native = loadNative();
  const path = putPath(native, dirFd, name, "llistxattr");
  const length = native.calls.llistxattr(path, native.block.address, native.block.bytes.length);
  return listed(native, length, "llistxattr", name);
}

/** Names of an open file's extended attributes, sorted; empty where the file system has none. */
export function listXattrs(fd: number): string[] {
  const native = loadNative();
  const length = native.calls.flistxattr(fd, native.block.address, native.block.bytes.length);
  return listed(native, length, "flistxattr");
}

/** Value of an entry's attribute, or `undefined` if there is no such attribute (or none on this file system). */
export function getXattrAt(dirFd: number, name: ByteName, attribute: ByteName): Buffer | undefined {
  const native = loadNative();
  const path = putPath(native, dirFd, name, "lgetxattr");
  const key = native.second.putName(attribute, "lgetxattr");
  const length = native.calls.lgetxattr(path, key, native.block.address, native.block.bytes.length);
  return value(native, length, "lgetxattr", name);
}

/** Value of an open file's attribute, or `undefined` if there is no such attribute (or none on this file system). */
export function getXattr(fd: number, attribute: ByteName): Buffer | undefined {
  const native = loadNative();
  const key = native.second.putName(attribute, "fgetxattr");
  const length = native.calls.fgetxattr(fd, key, native.block.address, native.block.bytes.length);
  return value(native, length, "fgetxattr");
}

/**
 * Sets an attribute of an entry, of a link itself.
 * @throws NativeError ENOTSUP where the file system has no attributes of that kind, EPERM for `user.` on a link.
 */
export function setXattrAt(
  dirFd: number,
  name: ByteName,
  attribute: ByteName,
  data: Uint8Array,
  flags = 0,
): void {
  const native = loadNative();
  const path = putPath(native, dirFd, name, "lsetxattr");
  const key = native.second.putName(attribute, "lsetxattr");
  const address = putValue(native, data, "lsetxattr");
  if (native.calls.lsetxattr(path, key, address, data.length, flags) < 0) {
    throw new NativeError(native.errno(), "lsetxattr", nameText(name));
  }
}

/** Sets an attribute of an open file. */
export function setXattr(fd: number, attribute: ByteName, data: Uint8Array, flags = 0): void {
  const native = loadNative();
  const key = native.second.putName(attribute, "fsetxattr");
  const address = putValue(native, data, "fsetxattr");
  if (native.calls.fsetxattr(fd, key, address, data.length, flags) < 0) {
    throw new NativeError(native.errno(), "fsetxattr");
  }
}

/** Removes an attribute of an entry, of a link itself; false if it was not there. */
export function removeXattrAt(dirFd: number, name: ByteName, attribute: ByteName): boolean {
  const native = loadNative();
  const path = putPath(native, dirFd, name, "lremovexattr");
  const key = native.second.putName(attribute, "lremovexattr");
  return removed(native, native.calls.lremovexattr(path, key), "lremovexattr", name);
}

/** Removes an attribute of an open file; false if it was not there. */
export function removeXattr(fd: number, attribute: ByteName): boolean {
  const native = loadNative();
  const key = native.second.putName(attribute, "fremovexattr");
  return removed(native, native.calls.fremovexattr(fd, key), "fremovexattr");
}

/** There is no `…at` form of these calls on most kernels; the last part of such a path is never followed. */
function putPath(native: Native, dirFd: number, name: ByteName, syscall: string): number {
  const text = nameText(name);
  // An absolute path of our own needs no directory; the calls themselves do not follow its last part.
  if (dirFd === AT.workingDirectory && text.startsWith("/"))
    return native.first.putName(text, syscall);
  if (text === "" || text.includes("/")) throw new NativeError(ERRNO.EINVAL, syscall, text);
  return native.first.putName(`/proc/self/fd/${dirFd}/${text}`, syscall);
}

function putValue(native: Native, data: Uint8Array, syscall: string): number {
  if (data.length > native.block.bytes.length) throw new NativeError(ERRNO.ERANGE, syscall);
  native.block.bytes.set(data, 0);
  return native.block.address;
}

function listed(native: Native, length: number, syscall: string, name?: ByteName): string[] {
  if (length < 0) {
    const errno = native.errno();
    if (errno === ERRNO.EOPNOTSUPP) return [];
    throw new NativeError(errno, syscall, name === undefined ? undefined : nameText(name));
  }
  return length === 0
    ? []
    : native.block
        .text(length - 1)
        .split("\0")
        .sort();
}

function value(
  native: Native,
  length: number,
  syscall: string,
  name?: ByteName,
): Buffer | undefined {
  if (length >= 0) return native.block.copy(length);
  const errno = native.errno();
  if (errno === ERRNO.ENODATA || errno === ERRNO.EOPNOTSUPP) return undefined;
  throw new NativeError(errno, syscall, name === undefined ? undefined : nameText(name));
}

function removed(native: Native, result: number, syscall: string, name?: ByteName): boolean {
  if (result >= 0) return true;
  const errno = native.errno();
  if (errno === ERRNO.ENODATA || errno === ERRNO.EOPNOTSUPP) return false;
  throw new NativeError(errno, syscall, name === undefined ? undefined : nameText(name));
}
