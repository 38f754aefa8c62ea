import { ERRNO } from "./constants.ts";
import { loadNative } from "./load-native.ts";
import { NativeError } from "./native-error.ts";

/** How a lock is shared with others. */
export type LockKind = "exclusive" | "shared";

const LOCK_SHARED = 1;
const LOCK_EXCLUSIVE = 2;
const LOCK_NON_BLOCKING = 4;
const LOCK_UNLOCK = 8;

/**
 * Locks an open file or directory for everybody who asks the same way; false if another holds it and `nonBlocking` is
 * set. Without it the whole thread waits. The lock belongs to the open file, so it ends with the last copy of the
 * descriptor, also when the process dies.
 */
export function flock(fd: number, kind: LockKind, nonBlocking: boolean): boolean {
  const native = loadNative();
  const operation =
    (kind === "shared" ? LOCK_SHARED : LOCK_EXCLUSIVE) | (nonBlocking ? LOCK_NON_BLOCKING : 0);
  while (native.calls.flock(fd, operation) < 0) {
    const errno = native.errno();
    if (errno === ERRNO.EAGAIN) return false;
    if (errno !== ERRNO.EINTR) throw new NativeError(errno, "flock");
  }
  return true;
}

/** Gives the lock back; harmless without one. */
export function unlock(fd: number): void {
  const native = loadNative();
  if (native.calls.flock(fd, LOCK_UNLOCK) < 0) throw new NativeError(native.errno(), "flock");
}
