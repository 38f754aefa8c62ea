import { DatabaseError, describeThrown } from "../../../errors/index.ts";
import type { LoggedStatement } from "../log-entry.ts";
import { codeOf } from "./codes.ts";
import type { Statement } from "../sql/split-statements.ts";
import { commandOf, nameOf } from "../sql/statement-errors.ts";

type Reason = DatabaseError["data"]["reason"];

const ENDS = "it would end the transaction of the sandbox";
const SAVEPOINTS = "savepoints are the sandbox's own: use checkpoints";
const OUTSIDE = "SQLite runs it outside of transactions only";
const SESSION = "it changes the connection, which ends with this call";
const OTHERS = "a sandbox is of one database";
const INSIDE = "what it does inside of SQLite cannot be recorded row by row";

/** What is refused, by its words; the first rule that fits tells why. */
const REFUSED: readonly (readonly [words: RegExp, reason: Reason, why: string])[] = [
  [/^(?:COMMIT|END|ROLLBACK|BEGIN)\b/, "endsTransaction", ENDS],
  [/^(?:SAVEPOINT|RELEASE)\b/, "endsTransaction", SAVEPOINTS],
  [/^VACUUM\b/, "outsideTransaction", OUTSIDE],
  [/^(?:ATTACH|DETACH)\b/, "session", OTHERS],
  [/^PRAGMA\b/, "session", SESSION],
  [/^CREATE TEMP(?:ORARY)?\b/, "session", "temporary tables end with this call"],
  [/\bTEMP ?\./, "session", "temporary tables end with this call"],
  [/\bLOAD_EXTENSION ?\(/, "sideEffect", "no extension is loaded"],
  [/^(?:CREATE|DROP) VIRTUAL\b/, "notCaptured", INSIDE],
  [/^(?:ANALYZE|REINDEX)\b/, "notCaptured", INSIDE],
  [
    /^CREATE (?:VIEW|TRIGGER)\b.*? (?:AS|ON)\b.*\bMAIN ?\./,
    "notCaptured",
    "where several databases are committed together there is no main: leave it out",
  ],
  [/\bCOFFERDAM_/, "notCaptured", "these names are the sandbox's own"],
  [
    /^CREATE TABLE\b[^(]* AS\b/,
    "notCaptured",
    "it fills tables: make the table first, then INSERT into it",
  ],
];

const ROWS = /^(?:INSERT|REPLACE|UPDATE|DELETE|SELECT|WITH|VALUES|EXPLAIN)\b/;
const SCHEMA = /^(?:CREATE|ALTER|DROP)\b/;

/**
 * Whether a statement changes rows or the schema.
 * @throws DatabaseError (`DATABASE`) for what a sandbox cannot take; nothing was run.
 */
export function classifyStatement(statement: Statement): LoggedStatement["kind"] {
  const rule = REFUSED.find(([words]) => words.test(statement.bare));
  if (rule !== undefined) throw refused(statement, rule[1], rule[2]);
  if (SCHEMA.test(statement.bare)) return "schema";
  if (ROWS.test(statement.bare)) return "rows";
  throw refused(statement, "notCaptured", "it is none of the statements that a sandbox records");
}

/** The error for a statement that a sandbox cannot take. */
export function refused(statement: Statement, reason: Reason, why: string): DatabaseError {
  return about(statement, reason, `is refused: ${why}`);
}

/** What SQLite says against a statement. */
export function failed(statement: Statement, cause: unknown): DatabaseError {
  return about(statement, "failed", `failed: ${describeThrown(cause)}`, cause);
}

function about(statement: Statement, reason: Reason, what: string, cause?: unknown): DatabaseError {
  const { bare, position } = statement;
  const command = commandOf(bare);
  const code = codeOf(cause);
  return new DatabaseError(`${nameOf(statement)} ${what}`, {
    data: { reason, position, command, sqlState: code === null ? null : String(code) },
    hint: "Nothing of the script was kept. docs/databases.md says what a sandbox can run.",
    ...(cause !== undefined && { cause }),
  });
}
