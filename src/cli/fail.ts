import { exitCodeOf } from "./exit-codes.ts";
import type { ExitCode } from "./exit-codes.ts";
import { PartialFailure } from "./partial-failure.ts";
import { printable } from "./render/printable.ts";
import { styleFor } from "./style.ts";
import { UsageError } from "./usage-error.ts";

/** What is told of any error; errors of the library tell more. */
interface ToldError {
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  readonly data: unknown;
}

const BUG_HINT =
  "This is a mistake in coffer itself; please report it with the command that you ran.";

/**
 * Tells an error: one clear line, and a hint where there is one. With `--json` the error's JSON instead, on the standard
 * output, where the answer would have been. Answers with the exit code.
 */
export async function fail(
  error: unknown,
  { isJson }: { readonly isJson: boolean },
): Promise<ExitCode> {
  const { told, lines } = await describe(error);
  if (isJson) process.stdout.write(`${JSON.stringify({ error: told }, null, 2)}\n`);
  else tell(told, lines);
  return exitCodeOf(told);
}

/** An error, and what people want to see of it beside its message. */
interface Described {
  readonly told: ToldError;
  readonly lines: readonly string[];
}

const MOST_LINES = 20;

function tell({ message, hint }: ToldError, more: readonly string[]): void {
  const style = styleFor(process.stderr);
  const rest = more.length - MOST_LINES;
  const shown = rest > 0 ? [...more.slice(0, MOST_LINES), `and ${rest} more`] : more;
  // Names can hold anything; what controls a terminal is not passed on.
  const lines = [...message.split("\n"), ...shown].map(printable);
  process.stderr.write(`${style.bad("coffer:")} ${lines.join("\n  ")}\n`);
  if (hint !== null) process.stderr.write(`${style.bold("hint:")} ${printable(hint)}\n`);
}

async function describe(error: unknown): Promise<Described> {
  if (error instanceof UsageError) {
    const { code, message, hint } = error;
    return { told: { code, message, hint, data: null }, lines: [] };
  }
  const { SandboxError } = await import("../light.ts");
  const { furtherConflicts, hintFor } = await import("./hint-for.ts");
  if (error instanceof SandboxError || error instanceof PartialFailure) {
    const json = error.toJSON();
    return { told: { ...json, hint: hintFor(json) }, lines: furtherConflicts(json) };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { told: { code: "INTERNAL", message, hint: BUG_HINT, data: null }, lines: [] };
}
