import { ERRNO } from "./constants.ts";
import { loadNative } from "./load-native.ts";
import { NativeError } from "./native-error.ts";

const FS_IOC_FSGETXATTR = 0x801c581f;
const PROJECT_ID_OFFSET = 12;
const NO_SUCH_QUESTION = new Set<number>([
  ERRNO.ENOTTY,
  ERRNO.EOPNOTSUPP,
  ERRNO.EINVAL,
  ERRNO.ENOSYS,
]);

/** Magic numbers of the file systems that behave specially for us. */
export const FILE_SYSTEM = {
  ext: 0xef53,
  xfs: 0x58465342,
  btrfs: 0x9123683e,
  tmpfs: 0x01021994,
  overlay: 0x794c7630,
  fuse: 0x65735546,
  nfs: 0x6969,
} as const;

/** Room and kind of a file system. */
export interface FileSystemInfo {
  /** Magic number, see `FILE_SYSTEM`. */
  readonly type: number;
  readonly blockSize: number;
  readonly blocks: number;
  /** Blocks that an ordinary user may still take. */
  readonly freeBlocks: number;
  readonly inodes: number;
  /** Inodes still free; 0 with 0 `inodes` where the file system has no such limit. */
  readonly freeInodes: number;
  readonly maxNameBytes: number;
  readonly isReadOnly: boolean;
}

/** Kind and room of the file system that holds the descriptor. */
export function statFileSystem(fd: number): FileSystemInfo {
  const native = loadNative();
  if (native.calls.fstatfs(fd, native.first.address) < 0)
    throw new NativeError(native.errno(), "fstatfs");
  const { bytes } = native.first;
  const field = (index: number): number => Number(bytes.readBigUInt64LE(index * 8));
  return {
    type: field(0),
    blockSize: field(9) || field(1),
    blocks: field(2),
    freeBlocks: field(4),
    inodes: field(5),
    freeInodes: field(6),
    maxNameBytes: field(8),
    isReadOnly: (field(10) & 1) !== 0,
  };
}

/**
 * The quota project of an open file or directory, or `null` where the file system has none.
 * Renaming from a directory of one project into another gives EXDEV.
 */
export function projectId(fd: number): number | null {
  const native = loadNative();
  if (native.calls.ioctl(fd, FS_IOC_FSGETXATTR, native.first.address) < 0) {
    const errno = native.errno();
    if (NO_SUCH_QUESTION.has(errno)) return null;
    throw new NativeError(errno, "ioctl(FS_IOC_FSGETXATTR)");
  }
  return native.first.bytes.readUInt32LE(PROJECT_ID_OFFSET);
}
