import { styleFor } from "./style.ts";

/** What is told of any error; errors of the library tell more. */
interface ToldError {
  readonly code: string | null;
  readonly message: string;
  readonly hint: string | null;
}

const BUG_HINT =
  "This is a mistake in coffer itself; please report it with the command that you ran.";

/**
 * Tells an error: one clear line, and a hint where there is one. With `--json` the error's JSON instead, on the standard
 * output, where the answer would have been.
 */
export async function fail(error: unknown, { isJson }: { readonly isJson: boolean }): Promise<1> {
  const told = await describe(error);
  if (isJson) {
    console.log(JSON.stringify({ error: told }, null, 2));
    return 1;
  }
  const style = styleFor(process.stderr);
  // Names can hold anything; what controls a terminal is not passed on.
  const message = told.message.replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f]/g, "\uFFFD");
  console.error(`${style.bad("coffer:")} ${message.replaceAll("\n", "\n  ")}`);
  if (told.hint !== null) console.error(`${style.bold("hint:")} ${told.hint}`);
  return 1;
}

async function describe(error: unknown): Promise<ToldError> {
  const { SandboxError } = await import("../index.ts");
  if (error instanceof SandboxError) return error.toJSON();
  const message = error instanceof Error ? error.message : String(error);
  return { code: null, message, hint: BUG_HINT };
}
