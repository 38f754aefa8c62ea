export { chmodAt, chownAt, fchmod, fchown, futimens, utimensAt } from "./attributes.ts";
export { AT, MODE, OPEN, RENAME } from "./constants.ts";
export {
  FALLOCATE,
  cloneFile,
  copyFileRange,
  fallocate,
  ftruncate,
  seekData,
  seekHole,
} from "./data.ts";
export { DirectoryScanner, readDirectory } from "./directory.ts";
export { fsync, syncfs } from "./durability.ts";
export { type FileHandle, fileHandleAt, isSameHandle, parseOverlayOrigin } from "./file-handle.ts";
export { FILE_SYSTEM, projectId, statFileSystem } from "./file-system.ts";
export { loadNative } from "./load-native.ts";
export { type LockKind, flock, unlock } from "./lock.ts";
export { MOUNT, UNMOUNT, mount, unmount, unmountAtOnce, unmountInBackground } from "./mount.ts";
export { OVERLAY_METHODS, mountOverlay, mountOverlayWith } from "./overlay-mount.ts";
export { NativeError, isErrno, throwUnlessErrno } from "./native-error.ts";
export { type ByteName } from "./native-memory.ts";
export {
  close,
  linkAt,
  linkFd,
  mkdirAt,
  mknodAt,
  openAt,
  openBeneath,
  readlinkAt,
  renameAt,
  rmdirAt,
  symlinkAt,
  unlinkAt,
} from "./paths.ts";
export { type NativeStat, statAt, statFd, statIfThere } from "./stat.ts";
export { type InodeType, StatBuffer, inodeType } from "./stat-buffer.ts";
export {
  XATTR,
  getXattr,
  getXattrAt,
  listXattrs,
  listXattrsAt,
  removeXattr,
  removeXattrAt,
  setXattr,
  setXattrAt,
} from "./xattr.ts";
