import { type ChildProcess, spawn } from "node:child_process";
import type { RunOptions, RunResult } from "../contract/host.ts";
import { OperationTimeoutError } from "../errors/index.ts";

/** How a program is started, with what only the inside of the package may ask for. */
export interface ProgramOptions extends RunOptions {
  readonly uid?: number;
  readonly gid?: number;
  /**
   * Open files that the program gets as descriptors 3, 4, …; `/proc/self/fd/3` then is a safe argument for a path that
   * is not UTF-8 or must not change under way.
   */
  readonly descriptors?: readonly number[];
}

/** A program wrote more than it may and was ended. */
export class OutputLimitError extends Error {
  override readonly name = "OutputLimitError";
  readonly code = "OUTPUT_LIMIT";
  readonly maxOutputBytes: number;

  constructor(program: string, maxOutputBytes: number) {
    super(`${program} wrote more than ${maxOutputBytes} bytes`);
    this.maxOutputBytes = maxOutputBytes;
  }
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** How long a killed program may take to disappear; one that waits for a dead disk never does. */
const GRACE_MS = 2_000;

/** The environment that programs get before `env` is added: where programs are, English UTF-8 messages, the home. */
export function bareEnvironment(): Record<string, string> {
  const { PATH, HOME } = process.env;
  return {
    PATH: PATH ?? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    LANG: "C.UTF-8",
    ...(HOME === undefined ? {} : { HOME }),
  };
}

/**
 * Runs a program with an argument list, never through a shell, with a bare environment plus `env`, and waits for its
 * end. It gets a process group of its own; whatever is left of that group when the program ends, or when its time or
 * its output runs out, is killed. An exit code other than 0 is a result, not an error.
 * @throws OperationTimeoutError (`OPERATION_TIMEOUT`), OutputLimitError, the reason of `signal`, or Node's spawn error.
 */
export function run(
  program: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    options.signal?.throwIfAborted();
    const child = start(program, args, options);
    new Execution(program, child, options, { resolve, reject }).watch(options.input);
  });
}

/** The two ends of a promise. */
interface Outcome {
  readonly resolve: (result: RunResult) => void;
  readonly reject: (reason: unknown) => void;
}

/** One running program and what it has written so far. */
class Execution {
  readonly #program: string;
  readonly #child: ChildProcess;
  readonly #limitMs: number;
  readonly #maxOutputBytes: number;
  readonly #signal: AbortSignal | undefined;
  readonly #outcome: Outcome;
  readonly #stdout: Buffer[] = [];
  readonly #stderr: Buffer[] = [];
  #received = 0;
  #timer: NodeJS.Timeout | undefined;
  #interruption: ((childEnded: boolean) => unknown) | undefined;

  constructor(program: string, child: ChildProcess, options: RunOptions, outcome: Outcome) {
    this.#program = program;
    this.#child = child;
    this.#limitMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#maxOutputBytes = options.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES;
    this.#signal = options.signal;
    this.#outcome = outcome;
  }

  /** Feeds the program, collects what it writes, and settles the outcome exactly once. */
  watch(input: Uint8Array | undefined): void {
    this.#timer = setTimeout(this.#onTimeout, this.#limitMs);
    this.#signal?.addEventListener("abort", this.#onAbort, { once: true });
    this.#child.stdout?.on("data", (chunk: Buffer) => this.#collect(this.#stdout, chunk));
    this.#child.stderr?.on("data", (chunk: Buffer) => this.#collect(this.#stderr, chunk));
    this.#child.on("error", (error) => this.#settle(() => this.#outcome.reject(error)));
    this.#child.on("exit", () => this.#killGroup());
    this.#child.on("close", (exitCode, signal) => this.#onClose(exitCode, signal));
    // A program that ends without reading everything closes its end; that is its right.
    this.#child.stdin?.on("error", () => undefined);
    this.#child.stdin?.end(input);
  }

  readonly #onTimeout = (): void => {
    const limitMs = this.#limitMs;
    this.#interrupt(
      (childEnded) =>
        new OperationTimeoutError(`${this.#program} did not end within ${limitMs} ms`, {
          data: { limitMs, childEnded },
          hint: childEnded ? undefined : "a process it started is still there; see `ps`",
        }),
    );
  };

  readonly #onAbort = (): void => {
    this.#interrupt(() => this.#signal?.reason);
  };

  #collect(chunks: Buffer[], chunk: Buffer): void {
    this.#received += chunk.length;
    if (this.#received <= this.#maxOutputBytes) chunks.push(chunk);
    else this.#interrupt(() => new OutputLimitError(this.#program, this.#maxOutputBytes));
  }

  #interrupt(reason: (childEnded: boolean) => unknown): void {
    if (this.#interruption !== undefined) return;
    this.#interruption = reason;
    this.#killGroup();
    // The end is waited for, but not for ever: a process in a hanging system call does not die, and one that left the
    // group keeps the output open.
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#giveUp(), GRACE_MS);
  }

  #onClose(exitCode: number | null, signal: NodeJS.Signals | null): void {
    const interruption = this.#interruption;
    this.#settle(() => {
      if (interruption !== undefined) this.#outcome.reject(interruption(true));
      else
        this.#outcome.resolve({
          exitCode,
          signal,
          stdout: Buffer.concat(this.#stdout),
          stderr: Buffer.concat(this.#stderr),
        });
    });
  }

  #giveUp(): void {
    this.#settle(() => {
      this.#child.stdin?.destroy();
      this.#child.stdout?.destroy();
      this.#child.stderr?.destroy();
      this.#child.unref();
      this.#outcome.reject(this.#interruption?.(false));
    });
  }

  #settle(finish: () => void): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#onAbort);
    finish();
  }

  #killGroup(): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, "SIGKILL");
    } catch {
      // Nobody is left in the group: that is what we wanted.
    }
  }
}

function start(program: string, args: readonly string[], options: ProgramOptions): ChildProcess {
  return spawn(program, args, {
    env: { ...bareEnvironment(), ...options.env },
    stdio: [
      options.input === undefined ? "ignore" : "pipe",
      "pipe",
      "pipe",
      ...(options.descriptors ?? []),
    ],
    // A session and process group of its own, so that all it starts can be ended together.
    detached: true,
    shell: false,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.gid === undefined ? {} : { gid: options.gid }),
  });
}
