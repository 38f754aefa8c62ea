import { loadNative } from "./load-native.ts";

/**
 * Makes a request of an open file on another thread, because it may wait for a disk, and puts what the kernel left in
 * the argument back into it; false where it could not be done, for whatever reason.
 */
export async function ioctlInBackground(
  fd: number,
  request: number,
  argument: Uint8Array,
): Promise<boolean> {
  const native = loadNative();
  const memory = native.allocate(argument.length);
  memory.bytes.set(argument);
  const isDone = (await native.background("ioctl", fd, request, memory.address)) >= 0;
  argument.set(memory.bytes);
  return isDone;
}
