import { ConfigurationError, hidePasswords } from "../errors/index.ts";
import type { ConfigurationProblem } from "../errors/index.ts";
import { closestName } from "../model/closest-name.ts";

/** One error for all problems of a configuration file; the message has one line for each. */
export function configurationError(
  file: string,
  problems: readonly ConfigurationProblem[],
  cause?: unknown,
): ConfigurationError {
  const lines = problems.map(
    ({ keyPath, line, found, expected }) =>
      `${file}${line === undefined ? "" : `:${line}`}: ${keyPath === "" ? "" : `${keyPath}: `}` +
      `found ${found}, expected ${expected}`,
  );
  return new ConfigurationError(lines.join("\n"), {
    data: { file, problems },
    operation: "configure",
    hint: "Correct the places named above; nothing was started.",
    ...(cause === undefined ? {} : { cause }),
  });
}

/** A value as the text of a problem: short, on one line. */
export function showFound(value: string | number | boolean | null): string {
  if (value === null) return "nothing";
  if (typeof value !== "string") return String(value);
  // Before it is cut: half a password would not be known for one.
  const shown = hidePasswords(value);
  return JSON.stringify(shown.length > 60 ? `${shown.slice(0, 57)}...` : shown);
}

/** The names as the text of a problem. */
export function showChoices(names: Iterable<string>): string {
  const list = [...names];
  return list.length === 1 ? (list[0] ?? "") : `one of ${list.join(", ")}`;
}

/** The choices, and the one that a wrong name most likely meant. */
export function suggest(name: string, names: Iterable<string>): string {
  const list = [...names];
  const meant = closestName(name, list);
  return `${showChoices(list)}${meant === null ? "" : ` (did you mean ${meant}?)`}`;
}
