/** The command line was called wrongly. It is told like the library's errors. */
export class UsageError extends Error {
  readonly code = "USAGE";
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.name = "UsageError";
    this.hint = hint;
  }
}

/** What is wrong with a call, as one line. */
export function usageError(
  message: string,
  hint = "`coffer --help` lists the commands, `coffer COMMAND --help` their options.",
): UsageError {
  const line = message.replace(/^error: /, "").replaceAll(/\s*\n\s*/g, " ");
  return new UsageError(line, hint);
}
