/** Where a call names what it changes: a path, a path relative to an open folder, or a descriptor. */
type Operand =
  | { readonly path: number }
  | { readonly folder: number; readonly path: number }
  | { readonly descriptor: number };

/** A system call that changes what is on disk, makes it durable, or takes a lock. */
export interface MutatingCall {
  readonly name: string;
  readonly operands: readonly Operand[];
  /** Which argument tells whether anything is changed at all, and the bits that say so. */
  readonly onlyIf?: {
    readonly argument: number;
    readonly anyBit?: number;
    readonly oneOf?: number[];
  };
  /** Which argument has the flags of an open, or points to them. */
  readonly flags?: { readonly argument: number; readonly isPointer?: boolean };
}

const O_CREAT = 0o100;
const O_TRUNC = 0o1000;
const O_TMPFILE = 0o20000000;
const CREATES = O_CREAT | O_TRUNC | O_TMPFILE;
const FICLONE = 0x4004_9409;
const FICLONERANGE = 0x4020_940d;
const FS_IOC_SETFLAGS = 0x4008_6602;
const BTRFS_IOC_SNAP_CREATE_V2 = 0x5000_9417;
const BTRFS_IOC_SNAP_DESTROY = 0x5000_940f;

const path = (at: number): Operand => ({ path: at });
const below = (folder: number): Operand => ({ folder, path: folder + 1 });
const descriptor = (at: number): Operand => ({ descriptor: at });

/** The calls by their numbers on x86-64. */
export const MUTATING_CALLS: ReadonlyMap<number, MutatingCall> = new Map([
  [1, { name: "write", operands: [descriptor(0)] }],
  [
    2,
    {
      name: "open",
      operands: [path(0)],
      onlyIf: { argument: 1, anyBit: CREATES },
      flags: { argument: 1 },
    },
  ],
  [
    16,
    {
      name: "ioctl",
      operands: [descriptor(0)],
      onlyIf: {
        argument: 1,
        oneOf: [
          FICLONE,
          FICLONERANGE,
          FS_IOC_SETFLAGS,
          BTRFS_IOC_SNAP_CREATE_V2,
          BTRFS_IOC_SNAP_DESTROY,
        ],
      },
    },
  ],
  [18, { name: "pwrite64", operands: [descriptor(0)] }],
  [20, { name: "writev", operands: [descriptor(0)] }],
  [40, { name: "sendfile", operands: [descriptor(0)] }],
  [73, { name: "flock", operands: [descriptor(0)] }],
  [74, { name: "fsync", operands: [descriptor(0)] }],
  [75, { name: "fdatasync", operands: [descriptor(0)] }],
  [76, { name: "truncate", operands: [path(0)] }],
  [77, { name: "ftruncate", operands: [descriptor(0)] }],
  [82, { name: "rename", operands: [path(0), path(1)] }],
  [83, { name: "mkdir", operands: [path(0)] }],
  [84, { name: "rmdir", operands: [path(0)] }],
  [85, { name: "creat", operands: [path(0)] }],
  [86, { name: "link", operands: [path(0), path(1)] }],
  [87, { name: "unlink", operands: [path(0)] }],
  [88, { name: "symlink", operands: [path(1)] }],
  [90, { name: "chmod", operands: [path(0)] }],
  [91, { name: "fchmod", operands: [descriptor(0)] }],
  [92, { name: "chown", operands: [path(0)] }],
  [93, { name: "fchown", operands: [descriptor(0)] }],
  [94, { name: "lchown", operands: [path(0)] }],
  [132, { name: "utime", operands: [path(0)] }],
  [133, { name: "mknod", operands: [path(0)] }],
  [165, { name: "mount", operands: [path(1)] }],
  [166, { name: "umount2", operands: [path(0)] }],
  [188, { name: "setxattr", operands: [path(0)] }],
  [189, { name: "lsetxattr", operands: [path(0)] }],
  [190, { name: "fsetxattr", operands: [descriptor(0)] }],
  [197, { name: "removexattr", operands: [path(0)] }],
  [198, { name: "lremovexattr", operands: [path(0)] }],
  [199, { name: "fremovexattr", operands: [descriptor(0)] }],
  [235, { name: "utimes", operands: [path(0)] }],
  [
    257,
    {
      name: "openat",
      operands: [below(0)],
      onlyIf: { argument: 2, anyBit: CREATES },
      flags: { argument: 2 },
    },
  ],
  [258, { name: "mkdirat", operands: [below(0)] }],
  [259, { name: "mknodat", operands: [below(0)] }],
  [260, { name: "fchownat", operands: [below(0)] }],
  [261, { name: "futimesat", operands: [below(0)] }],
  [263, { name: "unlinkat", operands: [below(0)] }],
  [264, { name: "renameat", operands: [below(0), below(2)] }],
  [265, { name: "linkat", operands: [below(0), below(2)] }],
  [266, { name: "symlinkat", operands: [below(1)] }],
  [268, { name: "fchmodat", operands: [below(0)] }],
  [280, { name: "utimensat", operands: [below(0)] }],
  [285, { name: "fallocate", operands: [descriptor(0)] }],
  [296, { name: "pwritev", operands: [descriptor(0)] }],
  [306, { name: "syncfs", operands: [descriptor(0)] }],
  [316, { name: "renameat2", operands: [below(0), below(2)] }],
  [326, { name: "copy_file_range", operands: [descriptor(2)] }],
  [328, { name: "pwritev2", operands: [descriptor(0)] }],
  [429, { name: "move_mount", operands: [below(0), below(2)] }],
  [437, { name: "openat2", operands: [below(0)], flags: { argument: 2, isPointer: true } }],
  [452, { name: "fchmodat2", operands: [below(0)] }],
  [463, { name: "setxattrat", operands: [below(0)] }],
  [466, { name: "removexattrat", operands: [below(0)] }],
]);
