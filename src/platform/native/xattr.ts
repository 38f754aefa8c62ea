import { AT, ERRNO } from "./constants.ts";
import { loadNative, type Native } from "./load-native.ts";
import { NativeError } from "./native-error.ts";
import { type ByteName, nameText } from "./native-memory.ts";

/** Flags of the setters: whatever is there, only if absent (EEXIST), only if present (ENODATA). */
export const XATTR = { any: 0, create: 1, replace: 2 } as const;

const XATTR_ARGS_BYTES = 16;

/** Whether the kernel has `listxattrat` and its sisters (Linux 6.13), and lets us use them. */
let hasAtCalls: boolean | undefined;

/** Names of an entry's extended attributes, sorted; a link's own, never its target's. Empty where there are none. */
export function listXattrsAt(dirFd: number, name: ByteName): string[] {
  const native = loadNative();
  hasAtCalls ??= mayUseAtCalls(native);
  if (!hasAtCalls) return listXattrsByPath(dirFd, name);
  return listed(native, listAt(native, dirFd, name), "listxattrat", name);
}

/** Some containers forbid calls that they do not know instead of saying that they are missing. */
function mayUseAtCalls(native: Native): boolean {
  if (listAt(native, AT.workingDirectory, ".") >= 0) return true;
  const errno = native.errno();
  return errno !== ERRNO.ENOSYS && errno !== ERRNO.EPERM;
}

function listAt(native: Native, dirFd: number, name: ByteName): number {
  const { calls, numbers, block } = native;
  const path = native.first.putName(oneName(dirFd, name, "listxattrat"), "listxattrat");
  const { address, bytes } = block;
  const number = numbers.listxattrat;
  return calls.syscall(number, dirFd, path, AT.symlinkNoFollow, address, bytes.length);
}

/** The way of older kernels; needs `/proc`, and takes twice as long. */
export function listXattrsByPath(dirFd: number, name: ByteName): string[] {
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
  hasAtCalls ??= mayUseAtCalls(native);
  if (!hasAtCalls) return getXattrByPath(dirFd, name, attribute);
  const path = native.first.putName(oneName(dirFd, name, "getxattrat"), "getxattrat");
  const key = native.second.putName(attribute, "getxattrat");
  const { address: room, bytes } = native.block;
  const { address: args, bytes: fields } = native.third;
  fields.writeBigUInt64LE(BigInt(room), 0);
  fields.writeUInt32LE(bytes.length, 8);
  fields.writeUInt32LE(0, 12);
  const { syscall6 } = native.calls;
  const number = native.numbers.getxattrat;
  const length = syscall6(number, dirFd, path, AT.symlinkNoFollow, key, args, XATTR_ARGS_BYTES);
  return value(native, length, "getxattrat", name);
}

/** The way of older kernels; needs `/proc`. */
export function getXattrByPath(
  dirFd: number,
  name: ByteName,
  attribute: ByteName,
): Buffer | undefined {
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
  const text = oneName(dirFd, name, syscall);
  const path = text.startsWith("/") ? text : `/proc/self/fd/${dirFd}/${text}`;
  return native.first.putName(path, syscall);
}

/** One name in an open directory, or an absolute path of our own, which needs none. */
function oneName(dirFd: number, name: ByteName, syscall: string): string {
  const text = nameText(name);
  if (dirFd === AT.workingDirectory && (text.startsWith("/") || text === ".")) return text;
  if (text === "" || text.includes("/")) throw new NativeError(ERRNO.EINVAL, syscall, text);
  return text;
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
