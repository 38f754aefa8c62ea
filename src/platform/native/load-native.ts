import { createRequire } from "node:module";
import { MAX_PATH_BYTES, NativeMemory } from "./native-memory.ts";
import {
  type NativeCalls,
  PROTOTYPES,
  SYSCALL_NUMBERS,
  type SyscallNumbers,
} from "./prototypes.ts";

/** The system calls that Node lacks cannot be reached on this machine; `cause` tells why. */
export class PlatformUnsupportedError extends Error {
  override readonly name = "PlatformUnsupportedError";
  readonly code = "PLATFORM_UNSUPPORTED";
}

/** Everything that the native calls of one thread share. */
export interface Native {
  readonly calls: NativeCalls;
  readonly numbers: SyscallNumbers;
  /** Reads the reason of the last failure; must be the very next thing after the failed call. */
  readonly errno: () => number;
  readonly allocate: (size: number) => NativeMemory;
  /** Room for one path each; a call uses at most three, and nothing survives the call. */
  readonly first: NativeMemory;
  readonly second: NativeMemory;
  readonly third: NativeMemory;
  /** Room for the largest extended attribute, or one block of other data. */
  readonly block: NativeMemory;
}

const BLOCK_BYTES = 65_536;

let loaded: Native | undefined;

/**
 * The native calls, loaded on first use and kept for the life of the thread. Works in worker threads.
 * @throws PlatformUnsupportedError (`PLATFORM_UNSUPPORTED`) where the system, the processor or the library do not fit.
 */
export function loadNative(): Native {
  loaded ??= bindNative();
  return loaded;
}

function bindNative(): Native {
  const numbers = process.platform === "linux" ? SYSCALL_NUMBERS[process.arch] : undefined;
  if (numbers === undefined) {
    throw new PlatformUnsupportedError(
      `system calls are not available on ${process.platform} ${process.arch}`,
    );
  }
  try {
    const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
    const library = koffi.load(null);
    const bound = Object.entries(PROTOTYPES).map(
      ([name, prototype]) => [name, library.func(prototype)] as const,
    );
    const allocate = (size: number): NativeMemory =>
      new NativeMemory(size, (bytes) => Number(koffi.address(bytes)));
    return {
      calls: Object.fromEntries(bound) as unknown as NativeCalls,
      numbers,
      errno: koffi.errno as () => number,
      allocate,
      first: allocate(MAX_PATH_BYTES + 1),
      second: allocate(MAX_PATH_BYTES + 1),
      third: allocate(MAX_PATH_BYTES + 1),
      block: allocate(BLOCK_BYTES),
    };
  } catch (cause) {
    throw new PlatformUnsupportedError("the library for system calls could not be loaded", {
      cause,
    });
  }
}
