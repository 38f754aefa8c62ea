import type { Statement } from "../sql/split-statements.ts";
import { type RefusalRule, refuseByWords, refused } from "../sql/statement-errors.ts";

const ENDS = "it would end the transaction of the sandbox";
const SCHEMA = "the server commits before it, so that the schema cannot be changed in a sandbox";
const SESSION = "it changes the session, which ends with this call";
const AT_ONCE = "what it does is not taken back with the sandbox";

/** What is refused, by its words; the first rule that fits tells why. */
const REFUSED: readonly RefusalRule[] = [
  [/\/\*M?!/, "notCaptured", "write what is in the comment as a statement"],
  [/^(COMMIT|ROLLBACK|BEGIN|START|XA|END)\b/, "endsTransaction", ENDS],
  [
    /^(SAVEPOINT|RELEASE)\b/,
    "endsTransaction",
    "savepoints are the sandbox's own: use checkpoints",
  ],
  [/^(CREATE|DROP) TEMPORARY\b/, "session", "temporary tables end with this call"],
  [/^(CREATE|ALTER|DROP|RENAME|GRANT|REVOKE|TRUNCATE)\b/, "endsTransaction", SCHEMA],
  [
    /^(LOCK|UNLOCK|ANALYZE|OPTIMIZE|REPAIR|CHECK|CACHE|FLUSH|RESET|CHANGE|INSTALL|UNINSTALL|STOP|PURGE|SHUTDOWN)\b/,
    "endsTransaction",
    ENDS,
  ],
  [/^(SET|USE|PREPARE|EXECUTE|DEALLOCATE|HANDLER|DECLARE|DELIMITER)\b/, "session", SESSION],
  [/^(LOAD|CALL|DO|BINLOG)\b/, "notCaptured", "use INSERT, UPDATE and DELETE"],
  [/\bINTO (OUTFILE|DUMPFILE)\b/, "sideEffect", "it writes a file on the server"],
  [/^(INSERT|REPLACE) (.* )?DELAYED\b/, "notCaptured", "the server runs it later"],
  [/^DELETE HISTORY\b/, "notCaptured", "history cannot be brought back"],
  [/\b(SETVAL|GET_LOCK|RELEASE_LOCK|RELEASE_ALL_LOCKS|LOAD_FILE) ?\(/, "sideEffect", AT_ONCE],
];

const ROWS = /^(INSERT|REPLACE|UPDATE|DELETE|SELECT|WITH|VALUES|\()/;

/** Questions about the server; they run nothing. */
const ALONE = /^(EXPLAIN|SHOW|DESC|DESCRIBE)\b/;

/**
 * Refuses what a read cannot ask.
 * @throws DatabaseError (`DATABASE`); nothing was run.
 */
export function requireQuestion(statement: Statement): void {
  if (ALONE.test(statement.bare)) refuseByWords(statement, REFUSED);
  else requireRowStatement(statement);
}

/**
 * Refuses what a sandbox cannot take.
 * @throws DatabaseError (`DATABASE`); nothing was run.
 */
export function requireRowStatement(statement: Statement): void {
  refuseByWords(statement, REFUSED);
  if (!ROWS.test(statement.bare))
    throw refused(statement, "notCaptured", "it is none of the statements that a sandbox records");
}
