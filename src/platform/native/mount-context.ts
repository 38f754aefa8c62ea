import { loadNative, type Native } from "./load-native.ts";
import { NativeError } from "./native-error.ts";
import type { ByteName } from "./native-memory.ts";
import { close } from "./paths.ts";

const FSOPEN_CLOEXEC = 1;
const FSMOUNT_CLOEXEC = 1;
/** Both ends of `move_mount` are given as descriptors alone. */
const BOTH_EMPTY_PATHS = 0x44;
const SET_FLAG = 0;
const SET_STRING = 1;
const SET_FD = 5;
const CREATE = 6;

/** Longest text of one option; the kernel refuses more. */
export const MAX_OPTION_BYTES = 255;

/**
 * A mount being put together option by option (fsopen, fsconfig, fsmount, move_mount), so that no option has to be
 * escaped. Whoever opens it disposes of it; a mount that was attached stays.
 */
export class MountContext implements Disposable {
  readonly #native: Native;
  readonly #type: string;
  readonly #fd: number;

  /** @throws NativeError ENOSYS before Linux 5.2, ENODEV for an unknown type, EPERM. */
  constructor(type: string) {
    const native = loadNative();
    const { numbers } = native;
    const fd = native.calls.syscall(
      numbers.fsopen,
      native.first.putName(type, "fsopen"),
      FSOPEN_CLOEXEC,
      0,
      0,
      0,
    );
    if (fd < 0) throw new NativeError(native.errno(), "fsopen", type);
    this.#native = native;
    this.#type = type;
    this.#fd = fd;
  }

  /** Sets an option that has no value. */
  setFlag(key: string): void {
    this.#configure(SET_FLAG, key, 0, 0);
  }

  /** Sets an option to a text of at most `MAX_OPTION_BYTES`. */
  setString(key: string, value: ByteName): void {
    this.#configure(SET_STRING, key, this.#native.second.putName(value, "fsconfig"), 0);
  }

  /** Sets an option to an open file or handle. */
  setDescriptor(key: string, fd: number): void {
    this.#configure(SET_FD, key, 0, fd);
  }

  /** Makes the mount and attaches it on top of an open directory. */
  attach(directoryFd: number): void {
    this.#configure(CREATE, null, 0, 0);
    const { calls, numbers, first } = this.#native;
    const mountFd = calls.syscall(numbers.fsmount, this.#fd, FSMOUNT_CLOEXEC, 0, 0, 0);
    if (mountFd < 0) throw this.#failure("fsmount", this.#type);
    try {
      const itself = first.putName("", "move_mount");
      if (
        calls.syscall(numbers.move_mount, mountFd, itself, directoryFd, itself, BOTH_EMPTY_PATHS) <
        0
      ) {
        throw this.#failure("move_mount", this.#type);
      }
    } finally {
      close(mountFd);
    }
  }

  [Symbol.dispose](): void {
    close(this.#fd);
  }

  #configure(command: number, key: string | null, value: number, extra: number): void {
    const { calls, numbers, first } = this.#native;
    const name = key === null ? 0 : first.putName(key, "fsconfig");
    if (calls.syscall(numbers.fsconfig, this.#fd, command, name, value, extra) < 0) {
      throw this.#failure("fsconfig", key ?? this.#type);
    }
  }

  #failure(syscall: string, path: string): NativeError {
    const errno = this.#native.errno();
    return new NativeError(errno, syscall, path, undefined, this.#messages());
  }

  /** What the kernel wrote about this mount since the last question; it says far more than the error number. */
  #messages(): string | undefined {
    const { calls, block } = this.#native;
    const lines: string[] = [];
    for (;;) {
      const length = calls.read(this.#fd, block.address, block.bytes.length);
      if (length <= 0) break;
      lines.push(block.bytes.toString("utf8", 0, length).trim());
    }
    return lines.length === 0 ? undefined : lines.join("; ");
  }
}
