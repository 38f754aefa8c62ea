import { loadNative } from "./load-native.ts";
import { NativeError } from "./native-error.ts";

/** Waits until everything written to the file system that holds the descriptor is on disk. */
export function syncfs(fd: number): void {
  const native = loadNative();
  if (native.calls.syncfs(fd) < 0) throw new NativeError(native.errno(), "syncfs");
}

/** Waits until one file, or the names in one directory, are on disk. A failure must not be repeated: data is lost. */
export function fsync(fd: number): void {
  const native = loadNative();
  if (native.calls.fsync(fd) < 0) throw new NativeError(native.errno(), "fsync");
}
