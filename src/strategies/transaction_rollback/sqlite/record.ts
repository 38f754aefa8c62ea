import type { RecordedStatements } from "../engine.ts";
import type { LoggedStatement, RowEffect } from "../log-entry.ts";
import { Capture } from "./capture.ts";
import { classifyStatement, failed, refused } from "./classify-statement.ts";
import { isChain } from "./net-effects.ts";
import { droppedTable } from "./qualify-schema.ts";
import { effectsWithReplaced } from "./redo.ts";
import { lastNumbers } from "./sequences.ts";
import type { Session } from "./session.ts";
import type { Statement } from "../sql/split-statements.ts";
import { splitStatements } from "./split-statements.ts";
import { tableDigest } from "./table-digest.ts";
import { findTables } from "./tables.ts";

const UNSEEN =
  "it changes rows that no trigger sees or that have no number: of a virtual table, such as a full-text index, of a table whose columns are called rowid, oid and _rowid_, or of SQLite itself";
const TANGLED = "its triggers and cascades change the same row in an order that cannot be repeated";
const REPLACES =
  "it replaces rows under triggers in a way that cannot be repeated: use INSERT … ON CONFLICT DO UPDATE";
const FILLS = "it would also change rows of other tables: delete the rows first";
/** The words that replace rows; a column or the function may have the same name. */
const REPLACE = /\b(?:OR|CONFLICT) REPLACE\b|\bREPLACE INTO\b/;

/** Runs a script on top of what the transaction shows, and tells what each statement did to every row. */
export function recordScript(session: Session, script: string): RecordedStatements {
  const statements = splitStatements(script);
  // All of them before the first one runs.
  for (const statement of statements) classifyStatement(statement);
  const before = lastNumbers(session, "main");
  const capture = new Capture(session);
  capture.install(findTables(session, "main"));
  const done = statements.map((statement) => recordOne(session, capture, statement));
  const moved = [...lastNumbers(session, "main")].filter(
    ([name, last]) => before.get(name) !== last,
  );
  return { statements: done, sequences: Object.fromEntries(moved) };
}

function recordOne(session: Session, capture: Capture, statement: Statement): LoggedStatement {
  const kind = classifyStatement(statement);
  if (kind === "schema") return recordSchema(session, capture, statement);
  const hasTriggers = triggerCount(session) > 0;
  // Without triggers of the user it makes no difference to them, and shows the rows that are replaced.
  session.exec(`PRAGMA recursive_triggers = ${hasTriggers ? "OFF" : "ON"}`);
  const mayReplace = REPLACE.test(statement.bare) || schemaReplaces(session);
  session.exec("SAVEPOINT cofferdam_statement");
  const before = changesSoFar(session);
  execute(session, statement);
  const counted = changesSoFar(session) - before;
  const effects = capture.take();
  // Each effect was counted once more when it was written down; rows that are replaced are not counted.
  const own = counted - effects.length;
  const isWhole = mayReplace && !hasTriggers ? own <= effects.length : own === effects.length;
  if (!isWhole) throw refused(statement, "notCaptured", UNSEEN);
  const real = effects.filter(isChange);
  for (const effect of real) requireKeys(statement, effect);
  if (!isChain(real)) throw refused(statement, "notCaptured", TANGLED);
  const whole = mayReplace && hasTriggers ? repeat(session, capture, statement, real) : real;
  session.exec("RELEASE cofferdam_statement");
  return { text: statement.text, kind, effects: whole };
}

/** Runs the recorded rows once more in the place of the statement, so that those are seen which they replace. */
function repeat(
  session: Session,
  capture: Capture,
  statement: Statement,
  effects: readonly RowEffect[],
): readonly RowEffect[] {
  session.exec("ROLLBACK TO cofferdam_statement");
  capture.uninstall();
  const whole = replacing(session, statement, effects);
  capture.install(findTables(session, "main"));
  return whole;
}

function replacing(
  session: Session,
  statement: Statement,
  effects: readonly RowEffect[],
): readonly RowEffect[] {
  // A cascade is seen before what set it off; the statement itself has passed all checks.
  session.exec("PRAGMA defer_foreign_keys = ON");
  try {
    return effectsWithReplaced(session, effects);
  } catch {
    throw refused(statement, "notCaptured", REPLACES);
  } finally {
    session.exec("PRAGMA defer_foreign_keys = OFF");
  }
}

/** A change of the schema is repeated by its text; it must not change rows of other tables by the way. */
function recordSchema(session: Session, capture: Capture, statement: Statement): LoggedStatement {
  // Changing a table is refused while a trigger names its columns; dropping one takes its triggers along.
  const dropped = droppedTable(statement.text);
  if (dropped === null) capture.uninstall();
  const digest = dropped === null ? "" : tableDigest(session, "main", dropped);
  execute(session, statement);
  const effects = capture.take();
  if (effects.length > 0) throw refused(statement, "notCaptured", FILLS);
  capture.uninstall();
  capture.install(findTables(session, "main"));
  const drops = dropped !== null && { drops: [{ table: dropped, digest, isMadeAgain: false }] };
  return { text: statement.text, kind: "schema", effects: [], ...drops };
}

function execute(session: Session, statement: Statement): void {
  try {
    session.exec(statement.text);
  } catch (cause) {
    throw failed(statement, cause);
  }
}

function isChange({ before, after }: RowEffect): boolean {
  return before !== after;
}

function requireKeys(statement: Statement, effect: RowEffect): void {
  const { table, before, after, keyBefore, keyAfter } = effect;
  if ((before === null) === (keyBefore === null) && (after === null) === (keyAfter === null))
    return;
  throw refused(statement, "notCaptured", `a row of ${table} has NULL in its primary key`);
}

function changesSoFar(session: Session): number {
  return Number(session.value("SELECT total_changes()"));
}

function triggerCount(session: Session): number {
  return Number(session.value("SELECT count(*) FROM main.sqlite_schema WHERE type = 'trigger'"));
}

function schemaReplaces(session: Session): boolean {
  const rows = session.all("SELECT sql FROM main.sqlite_schema WHERE sql LIKE '%replace%'");
  const texts = rows.flatMap(({ sql }) => splitStatements(String(sql)));
  return texts.some(({ bare }) => REPLACE.test(bare));
}
