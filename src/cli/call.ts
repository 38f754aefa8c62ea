import type { CofferdamOptions } from "../index.ts";
import { styleFor } from "./style.ts";
import type { Style } from "./style.ts";
import { printable } from "./render/printable.ts";

/** What an answer is laid out for. */
export interface Page {
  readonly style: Style;
  /** Columns of the terminal; infinite where there is none, so that nothing is cut off. */
  readonly width: number;
}

/** What stood on the command line, by the names of arguments and options. */
export type GivenValues = Readonly<Record<string, unknown>>;

/**
 * One call of a command: what it was given, and how it speaks. The answer goes to the standard output; everything else,
 * such as progress and what to do next, to the standard error.
 */
export class Call {
  /** Aborted at the first Ctrl-C. */
  readonly signal: AbortSignal;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly #values: GivenValues;

  constructor(values: GivenValues, signal: AbortSignal) {
    this.#values = values;
    this.signal = signal;
    this.json = this.flag("json");
    this.quiet = this.flag("quiet");
  }

  /** Where state and configuration are, for `openCofferdam` and `inspectMachine`. */
  get places(): Pick<CofferdamOptions, "stateDirectory" | "config"> {
    const [stateDirectory, config] = [this.text("state"), this.text("config")];
    return {
      ...(stateDirectory !== undefined && { stateDirectory }),
      ...(config !== undefined && { config }),
    };
  }

  /** The value of an argument or option that may be left out. */
  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" ? value : undefined;
  }

  /** The value of an argument that must be there. */
  needed(name: string): string {
    return this.text(name) ?? "";
  }

  /** All values of an argument or option that may be given several times. */
  texts(name: string): readonly string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? (value as readonly string[]) : [];
  }

  /** Whether an option without a value was given. */
  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  /** Whether a thing that is there by itself was switched off, as by `--no-network`. */
  isDenied(name: string): boolean {
    return this.#values[name] === false;
  }

  /** Gives the answer: the value as JSON, or the lines for people. */
  answer(value: unknown, lines: (page: Page) => readonly string[]): void {
    if (this.json) return this.answerJson(value);
    const text = lines(pageFor(process.stdout)).join("\n");
    if (text !== "") process.stdout.write(`${text}\n`);
  }

  /** Gives the answer as the one JSON value. */
  answerJson(value: unknown): void {
    process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  }

  /** Says what was done, to people only; names of others in it must have been made printable. */
  tell(line: string): void {
    if (!this.json && !this.quiet) process.stderr.write(`${line}\n`);
  }

  /** Says that something which was asked for did not happen, to people only, and whatever else is silent. */
  warn(line: string): void {
    if (!this.json) process.stderr.write(`${line}\n`);
  }

  /** Names the commands that are useful next, to people only. */
  suggest(...commands: readonly (readonly [line: string, meaning: string])[]): void {
    const { style } = pageFor(process.stderr);
    const width = Math.max(...commands.map(([line]) => line.length));
    for (const [line, meaning] of commands)
      this.tell(style.dim(`  ${printable(line).padEnd(width)}  # ${meaning}`));
  }
}

/** What is laid out for a stream: its terminal, or none. */
export function pageFor(stream: { readonly isTTY?: boolean; readonly columns?: number }): Page {
  const isTerminal = stream.isTTY === true && (stream.columns ?? 0) > 0;
  return { style: styleFor(stream), width: isTerminal ? stream.columns! : Infinity };
}
