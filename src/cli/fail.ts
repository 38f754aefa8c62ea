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
  const told = await describe(error);
  if (isJson) process.stdout.write(`${JSON.stringify({ error: told }, null, 2)}\n`);
  else tell(told);
  return exitCodeOf(told);
}

function tell({ message, hint }: ToldError): void {
  const style = styleFor(process.stderr);
  // Names can hold anything; what controls a terminal is not passed on.
  const lines = message.split("\n").map(printable);
  process.stderr.write(`${style.bad("coffer:")} ${lines.join("\n  ")}\n`);
  if (hint !== null) process.stderr.write(`${style.bold("hint:")} ${printable(hint)}\n`);
}

async function describe(error: unknown): Promise<ToldError> {
  if (error instanceof UsageError) {
    const { code, message, hint } = error;
    return { code, message, hint, data: null };
  }
  const { SandboxError } = await import("../light.ts");
  const { hintFor } = await import("./hint-for.ts");
  if (error instanceof SandboxError || error instanceof PartialFailure) {
    const json = error.toJSON();
    return { ...json, hint: hintFor(json) };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: "INTERNAL", message, hint: BUG_HINT, data: null };
}
