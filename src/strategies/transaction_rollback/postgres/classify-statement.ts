import type { LoggedStatement } from "../log-entry.ts";
import type { Statement } from "../sql/split-statements.ts";
import { type RefusalRule, refuseByWords, refused } from "../sql/statement-errors.ts";

const ENDS = "it would end the transaction of the sandbox";
const OUTSIDE = "the server runs it outside of transactions only";
const SESSION = "it changes the session, which ends with this call";
const CLUSTER = "it changes the whole server, not only this database";

/** What is refused, by its words; the first rule that fits tells why. */
const REFUSED: readonly RefusalRule[] = [
  [/^\\/, "notCaptured", "it is a command of psql, which the server does not know: leave it out"],
  [/^(COMMIT|END|ROLLBACK|ABORT|BEGIN|START|PREPARE TRANSACTION)\b/, "endsTransaction", ENDS],
  [
    /^(SAVEPOINT|RELEASE)\b/,
    "endsTransaction",
    "savepoints are the sandbox's own: use checkpoints",
  ],
  [/^(VACUUM|CHECKPOINT)\b/, "outsideTransaction", OUTSIDE],
  [/^(CLUSTER|REINDEX)\b/, "notCaptured", "it only rebuilds what is there: run it outside"],
  [/^REFRESH MATERIALIZED VIEW CONCURRENTLY\b/, "notCaptured", "leave CONCURRENTLY out"],
  [
    /^(CREATE|DROP|ALTER) (DATABASE|TABLESPACE|SUBSCRIPTION|SYSTEM)\b/,
    "outsideTransaction",
    OUTSIDE,
  ],
  [/\bCONCURRENTLY\b/, "outsideTransaction", OUTSIDE],
  [/^(CREATE|DROP|ALTER) (ROLE|USER|GROUP)\b/, "sideEffect", CLUSTER],
  [/^(GRANT|REVOKE) (?!.* ON )/, "sideEffect", CLUSTER],
  [
    /^(SET|RESET|DISCARD|LOAD|PREPARE|EXECUTE|DEALLOCATE|DECLARE|FETCH|MOVE|CLOSE)\b/,
    "session",
    SESSION,
  ],
  [/^(NOTIFY|LISTEN|UNLISTEN)\b/, "sideEffect", "a prepared transaction cannot notify"],
  [/\bPG_NOTIFY ?\(/, "sideEffect", "a prepared transaction cannot notify"],
  [
    /^CREATE (OR REPLACE )?((GLOBAL|LOCAL) )?(TEMP|TEMPORARY)\b/,
    "session",
    "temporary tables end with this call",
  ],
  [/\bSETVAL ?\(/, "sideEffect", "a sequence is set at once and for everybody"],
  [/\bSET_CONFIG ?\(/, "session", SESSION],
  [
    /\b(DBLINK\w*|LO_(CREATE?|IMPORT|EXPORT|UNLINK|PUT|FROM_BYTEA|OPEN)) ?\(/,
    "sideEffect",
    "what it does is not taken back with the sandbox",
  ],
  [/^(COPY|LOCK|CALL)\b/, "notCaptured", "use INSERT, UPDATE and DELETE"],
  [/^TRUNCATE\b/, "notCaptured", "use DELETE, which tells the rows that go"],
  [/^(CREATE|ALTER|DROP) (FOREIGN|SERVER|PUBLICATION|EVENT TRIGGER)\b/, "sideEffect", CLUSTER],
];

const ROWS = /^(INSERT|UPDATE|DELETE|MERGE|SELECT|WITH|VALUES|TABLE|DO|EXPLAIN|\()/;
const SCHEMA = /^(CREATE|ALTER|DROP|COMMENT|GRANT|REVOKE|REFRESH MATERIALIZED VIEW)\b/;

/**
 * Whether a statement changes rows or the schema.
 * @throws DatabaseError (`DATABASE`) for what a sandbox cannot take; nothing was run.
 */
export function classifyStatement(statement: Statement): LoggedStatement["kind"] {
  const { bare } = statement;
  refuseByWords(statement, REFUSED);
  if (SCHEMA.test(bare)) return "schema";
  if (ROWS.test(bare)) return "rows";
  throw refused(statement, "notCaptured", "it is none of the statements that a sandbox records");
}
