import { EXIT } from "./exit-codes.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const NUMBERS: Readonly<Record<(typeof SIGNALS)[number], number>> = {
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
};

/**
 * Lets a command stop in order: the first Ctrl-C asks the work to end, which finishes or takes back what was begun; the
 * second ends the process at once, and what it leaves is recovered by the next command.
 */
export class Interruption implements Disposable {
  readonly #controller = new AbortController();
  readonly #listener: (signal: (typeof SIGNALS)[number]) => void;

  constructor(tell: (line: string) => void) {
    this.#listener = (name) => {
      if (this.signal.aborted) process.exit(NUMBERS[name]);
      tell("coffer: stopping in order; once more ends it at once.");
      this.#controller.abort(new Error(`${name} was received`));
    };
    for (const name of SIGNALS) process.on(name, this.#listener);
  }

  /** Aborted at the first signal. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What a failed command ends with: one that was interrupted was given up, unless it says more. */
  exitCode(code: number): number {
    return this.signal.aborted && code === EXIT.failed ? EXIT.aborted : code;
  }

  [Symbol.dispose](): void {
    for (const name of SIGNALS) process.off(name, this.#listener);
  }
}
