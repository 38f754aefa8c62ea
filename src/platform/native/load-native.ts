import { PlatformUnsupportedError } from "../../errors/index.ts";
import { loadKoffi } from "./load-koffi.ts";
import { MAX_PATH_BYTES, NativeMemory } from "./native-memory.ts";
import {
  type NativeCalls,
  PROTOTYPES,
  SYSCALL_NUMBERS,
  type SyscallNumbers,
} from "./prototypes.ts";

/** Everything that the native calls of one thread share. */
export interface Native {
  readonly calls: NativeCalls;
  readonly numbers: SyscallNumbers;
  /** Makes a call on a thread of Node's own; memory that it names must live until then. Its errno cannot be told. */
  readonly background: (name: keyof NativeCalls, ...args: readonly number[]) => Promise<number>;
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

/** A function of the C library as koffi gives it. */
interface BoundCall {
  (...args: readonly number[]): number;
  readonly async: (...args: readonly unknown[]) => void;
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
  const numbers = syscallNumbersFor(process.platform, process.arch);
  try {
    const koffi = loadKoffi(import.meta.url);
    const library = koffi.load(null);
    const bind = (name: keyof NativeCalls): BoundCall => library.func(PROTOTYPES[name]);
    const allocate = (size: number): NativeMemory =>
      new NativeMemory(size, (bytes) => Number(koffi.address(bytes)));
    return {
      calls: bindLate(bind),
      numbers,
      background: (name, ...args) =>
        new Promise((resolve, reject) => {
          bind(name).async(...args, (error: Error | null, result: number) =>
            error === null ? resolve(result) : reject(error),
          );
        }),
      errno: koffi.errno,
      allocate,
      first: allocate(MAX_PATH_BYTES + 1),
      second: allocate(MAX_PATH_BYTES + 1),
      third: allocate(MAX_PATH_BYTES + 1),
      block: allocate(BLOCK_BYTES),
    };
  } catch (cause) {
    throw unsupported("the koffi library could not be loaded", cause);
  }
}

/** Functions that bind themselves when they are first called: a command needs few of them, and binding all takes long. */
function bindLate(bind: (name: keyof NativeCalls) => BoundCall): NativeCalls {
  const calls = {} as Record<keyof NativeCalls, (...args: readonly number[]) => number>;
  for (const name of Object.keys(PROTOTYPES) as (keyof NativeCalls)[]) {
    calls[name] = (...args) => {
      calls[name] = bind(name);
      return calls[name](...args);
    };
  }
  return calls;
}

/**
 * The call numbers for a system and a processor.
 * @throws PlatformUnsupportedError where there are no bindings.
 */
export function syscallNumbersFor(platform: string, processor: string): SyscallNumbers {
  const numbers = platform === "linux" ? SYSCALL_NUMBERS.get(processor) : undefined;
  if (numbers === undefined)
    throw unsupported(`there are no bindings for ${platform} on ${processor}`);
  return numbers;
}

function unsupported(reason: string, cause?: unknown): PlatformUnsupportedError {
  return new PlatformUnsupportedError(`system calls cannot be made: ${reason}`, {
    data: { what: "system calls", reason },
    hint: "this needs 64-bit Linux and the koffi package with its binary for this processor",
    cause,
  });
}
