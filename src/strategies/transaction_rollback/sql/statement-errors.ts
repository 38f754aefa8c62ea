import { DatabaseError, describeThrown, hidePasswords } from "../../../errors/index.ts";
import type { Statement } from "./split-statements.ts";

/** What errors tell of a statement. */
export type PlacedStatement = Pick<Statement, "bare" | "position" | "line">;

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
export function refused(statement: PlacedStatement, reason: Reason, why: string): DatabaseError {
  const { bare, position } = statement;
  const command = commandOf(bare);
  return new DatabaseError(`${nameOf(statement)} is refused: ${why}`, {
    data: { reason, position, command, sqlState: null },
    operation: "write",
    hint: "Nothing of the script was kept. docs/databases.md says what a sandbox can run.",
  });
}

/** Where a statement stands in its script, and how it begins. */
export function nameOf({ bare, position, line }: PlacedStatement): string {
  return `Statement ${position} (${commandOf(bare)}${line > 1 ? `, line ${line}` : ""})`;
}

/** The first word of a statement. */
export function commandOf(bare: string): string {
  return /^\w+/.exec(bare)?.[0] ?? bare.slice(0, 1);
}

/** What is known of a failure besides its message. */
interface Failure {
  readonly isLost: boolean;
  readonly sqlState: string | null;
  /** Why it was run, where that is not told by the statement. */
  readonly about?: string;
  /** What else the server says: which row it was, and what might help. */
  readonly detail?: string;
  readonly advice?: string;
}

/** What the server says against a statement; one without words is the end of a script. */
export function failedBy(
  statement: PlacedStatement,
  cause: unknown,
  { isLost, sqlState, about = "", detail = "", advice = "" }: Failure,
): DatabaseError {
  const { bare, position } = statement;
  const command = bare === "" ? null : commandOf(bare);
  const what = command === null ? "The end of the script" : nameOf(statement);
  const why = `${describeThrown(cause)}${detail && `: ${hidePasswords(detail)}`}`;
  return new DatabaseError(`${what} failed: ${about}${why}`, {
    data: {
      reason: isLost ? "unreachable" : "failed",
      position: command === null ? null : position,
      command,
      sqlState,
    },
    hint: `Nothing of the script was kept.${advice && ` ${hidePasswords(advice)}`}`,
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

/** The error for a script or query with bytes that are no text. */
export function notText(cause: unknown): DatabaseError {
  return new DatabaseError("The text is not UTF-8", {
    data: { reason: "failed", position: null, command: null, sqlState: null },
    hint: "Convert it to UTF-8, and write other bytes in hexadecimal digits (x'00ff').",
    cause,
  });
}
