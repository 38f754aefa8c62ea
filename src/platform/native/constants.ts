import { constants } from "node:fs";

/** Flags for opening; those that differ between processors come from Node. */
export const OPEN = {
  readOnly: constants.O_RDONLY,
  writeOnly: constants.O_WRONLY,
  readWrite: constants.O_RDWR,
  create: constants.O_CREAT,
  exclusive: constants.O_EXCL,
  truncate: constants.O_TRUNC,
  append: constants.O_APPEND,
  nonBlocking: constants.O_NONBLOCK,
  directory: constants.O_DIRECTORY,
  noFollow: constants.O_NOFOLLOW,
  /** A handle on the entry itself, without opening it: works on links, sockets and devices. */
  pathOnly: 0o10000000,
  /** A file without a name in the given directory. */
  temporary: 0o20000000 | constants.O_DIRECTORY,
  closeOnExec: 0o2000000,
} as const;

/** Flags of `renameAt`. */
export const RENAME = { replace: 0, noReplace: 1, exchange: 2, whiteout: 4 } as const;

/** Flags that the `…at` calls share. */
export const AT = {
  workingDirectory: -100,
  symlinkNoFollow: 0x100,
  removeDirectory: 0x200,
  symlinkFollow: 0x400,
  noAutomount: 0x800,
  emptyPath: 0x1000,
} as const;

/** File type bits of a mode. */
export const MODE = {
  typeMask: 0o170000,
  permissionMask: 0o7777,
  fifo: 0o010000,
  characterDevice: 0o020000,
  directory: 0o040000,
  blockDevice: 0o060000,
  file: 0o100000,
  symlink: 0o120000,
  socket: 0o140000,
} as const;

/** Error numbers that the calls here decide on; the same on every processor we bind. */
export const ERRNO = {
  EPERM: 1,
  ENOENT: 2,
  EINTR: 4,
  ENXIO: 6,
  EBADF: 9,
  EAGAIN: 11,
  EXDEV: 18,
  ENOTDIR: 20,
  EINVAL: 22,
  ENOTTY: 25,
  ERANGE: 34,
  ENAMETOOLONG: 36,
  ENOSYS: 38,
  ELOOP: 40,
  ENODATA: 61,
  EOVERFLOW: 75,
  EOPNOTSUPP: 95,
} as const;
