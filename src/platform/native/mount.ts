import { ERRNO } from "./constants.ts";
import { loadNative } from "./load-native.ts";
import { NativeError } from "./native-error.ts";
import { type ByteName, type NativeMemory, nameText } from "./native-memory.ts";

/** Flags of `mount`. */
export const MOUNT = {
  readOnly: 1,
  noSuid: 2,
  noDevices: 4,
  noExecute: 8,
  remount: 32,
  noAccessTime: 1024,
  bind: 4096,
  move: 8192,
  recursive: 16384,
  private: 1 << 18,
  slave: 1 << 19,
} as const;

/** Flags of `unmount`. */
export const UNMOUNT = { force: 1, detach: 2, expire: 4 } as const;

const UMOUNT_NOFOLLOW = 8;
/** The kernel reads at most one page of options. */
const MAX_DATA_BYTES = 4095;

/** Mounts; `null` where the kernel needs nothing. `data` is passed on byte by byte: escaping is the caller's. */
export function mount(
  source: ByteName | null,
  target: ByteName,
  type: ByteName | null,
  flags: number,
  data: ByteName | null = null,
): void {
  const native = loadNative();
  const from = put(native.first, source);
  const to = put(native.second, target);
  const kind = put(native.third, type);
  if (data !== null && data.length > MAX_DATA_BYTES)
    throw new NativeError(ERRNO.EINVAL, "mount", nameText(target));
  const options = put(native.block, data);
  if (native.calls.mount(from, to, kind, flags, options) < 0) {
    throw new NativeError(native.errno(), "mount", nameText(target));
  }
}

/** Takes a mount away; never through a link at the end of the path. */
export function unmount(target: ByteName, flags = 0): void {
  const native = loadNative();
  if (native.calls.umount2(native.first.putName(target, "umount2"), flags | UMOUNT_NOFOLLOW) < 0) {
    throw new NativeError(native.errno(), "umount2", nameText(target));
  }
}

/** Takes a mount away of which nothing has to be written to a disk; false where it could not be done, for whatever reason. */
export function unmountAtOnce(target: ByteName): boolean {
  const native = loadNative();
  return native.calls.umount2(native.first.putName(target, "umount2"), UMOUNT_NOFOLLOW) === 0;
}

/**
 * The same as `unmount` on another thread, because a slow disk may be waited for; false where it could not be done, for whatever
 * reason.
 */
export async function unmountInBackground(target: ByteName): Promise<boolean> {
  const native = loadNative();
  const path = native.allocate(target.length + 1);
  const address = path.putName(target, "umount2");
  const isDone = (await native.background("umount2", address, UMOUNT_NOFOLLOW)) === 0;
  // Used once more here, so that the memory lives as long as the call.
  return isDone && path.address === address;
}

function put(memory: NativeMemory, value: ByteName | null): number {
  return value === null ? 0 : memory.putName(value, "mount");
}
