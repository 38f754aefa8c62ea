import { DatabaseError, describeThrown } from "../../../errors/index.ts";
import type { Statement } from "./split-statements.ts";

type Reason = DatabaseError["data"]["reason"];

/** Which statements are refused, by their words, and why. */
export type RefusalRule = readonly [words: RegExp, reason: Reason, why: string];

/**
 * Refuses a statement by the first rule that fits.
 * @throws DatabaseError (`DATABASE`); nothing was run.
 */
export function refuseByWords(statement: Statement, rules: readonly RefusalRule[]): void {
  const rule = rules.find(([words]) => words.test(statement.bare));
  if (rule !== undefined) throw refused(statement, rule[1], rule[2]);
}

/** The error for a statement that a sandbox cannot take. */
export function refused(
  { bare, position }: Pick<Statement, "bare" | "position">,
  reason: Reason,
  why: string,
): DatabaseError {
  const command = commandOf(bare);
  return new DatabaseError(`Statement ${position} (${command}) is refused: ${why}`, {
    data: { reason, position, command, sqlState: null },
    operation: "write",
    hint: "Nothing of the script was kept. docs/databases.md says what a sandbox can run.",
  });
}

/** The first word of a statement. */
function commandOf(bare: string): string {
  return /^\w+/.exec(bare)?.[0] ?? bare.slice(0, 1);
}

/** What the server says against a statement; one without words is the end of a script. */
export function failedBy(
  { bare, position }: Pick<Statement, "bare" | "position">,
  cause: unknown,
  { isLost, sqlState }: { readonly isLost: boolean; readonly sqlState: string | null },
  about = "",
): DatabaseError {
  const command = bare === "" ? null : commandOf(bare);
  const what = command === null ? "The end of the script" : `Statement ${position} (${command})`;
  return new DatabaseError(`${what} failed: ${about}${describeThrown(cause)}`, {
    data: {
      reason: isLost ? "unreachable" : "failed",
      position: command === null ? null : position,
      command,
      sqlState,
    },
    hint: "Nothing of the script was kept.",
    cause,
  });
}

/** The error for a read that is not exactly one query. */
export function notOneQuery(): DatabaseError {
  return new DatabaseError("A read takes one query", {
    data: { reason: "failed", position: null, command: null, sqlState: null },
    operation: "read",
  });
}
