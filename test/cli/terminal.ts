import type { ChildResult } from "../support/child.ts";
import { type Home, node, program, run } from "./coffer.ts";

/** Runs a command in a pseudo-terminal of so many columns, and gives everything that the terminal was shown. */
export function onTerminal(
  home: Home,
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly columns?: number } = {},
): ChildResult {
  const { columns = 80, env = {} } = options;
  const words = [node, program, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  const line = `stty cols ${columns} rows 24; exec ${words.join(" ")}`;
  const done = run(home, "script", ["-qec", line, "/dev/null"], { env: { TERM: "xterm", ...env } });
  return { ...done, stdout: done.stdout.replaceAll("\r\n", "\n") };
}
