import { AT, ERRNO } from "./constants.ts";
import { loadNative } from "./load-native.ts";
import { NativeError } from "./native-error.ts";
import { type ByteName, nameText } from "./native-memory.ts";

const MAX_HANDLE_BYTES = 128;
const HEADER_BYTES = 8;
const ORIGIN_HEADER_BYTES = 21;
const ORIGIN_MAGIC = 0xfb;

/** The file system's lasting name of an inode: survives renames, and is not reused for another inode. */
export interface FileHandle {
  readonly type: number;
  readonly bytes: Buffer;
}

/**
 * The handle of a name in a directory, of a link itself; of `dirFd` for the empty name.
 * `null` where the file system hands out none.
 */
export function fileHandleAt(dirFd: number, name: ByteName): FileHandle | null {
  const native = loadNative();
  const address = native.first.putName(name, "name_to_handle_at");
  const answer = native.second;
  answer.bytes.writeUInt32LE(MAX_HANDLE_BYTES, 0);
  const flags = name.length === 0 ? AT.emptyPath : 0;
  const { calls } = native;
  if (calls.name_to_handle_at(dirFd, address, answer.address, native.third.address, flags) < 0) {
    const errno = native.errno();
    if (errno === ERRNO.EOPNOTSUPP || errno === ERRNO.EOVERFLOW) return null;
    throw new NativeError(errno, "name_to_handle_at", nameText(name));
  }
  const length = answer.bytes.readUInt32LE(0);
  return {
    type: answer.bytes.readInt32LE(4),
    bytes: Buffer.from(answer.bytes.subarray(HEADER_BYTES, HEADER_BYTES + length)),
  };
}

/** The handle inside the value of an `overlay.origin` attribute, or `null` for a value that holds none. */
export function parseOverlayOrigin(value: Buffer): FileHandle | null {
  if (value.length <= ORIGIN_HEADER_BYTES || value[1] !== ORIGIN_MAGIC || value[2] !== value.length)
    return null;
  return { type: value[4]!, bytes: Buffer.from(value.subarray(ORIGIN_HEADER_BYTES)) };
}

/** Whether two handles, taken on one file system, name the same inode. */
export function isSameHandle(left: FileHandle, right: FileHandle): boolean {
  return left.type === right.type && left.bytes.equals(right.bytes);
}
