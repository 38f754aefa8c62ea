import { type DatabaseError, describeThrown } from "../../../errors/index.ts";
import { DriftError, type RecordedStatements, type RowConflict } from "../engine.ts";
import type { LoggedStatement, LoggedWrite, RowEffect } from "../log-entry.ts";
import { hasEffects, tablePath } from "../row-changes.ts";
import type { Statement } from "../sql/split-statements.ts";
import { refused } from "../sql/statement-errors.ts";
import { Capture, UnwatchedError } from "./capture.ts";
import { heldTable } from "./held-table.ts";
import { redo } from "./redo.ts";
import { lastNumbers, movedSequences } from "./sequences.ts";
import { type Session, isLost, sqlStateOf } from "./session.ts";
import { type Table, findTable, tableOf } from "./tables.ts";

/** What one try has learned from those before. */
interface Lessons {
  /** Tables that have to be watched before the log puts rows in, by their paths. */
  readonly first: ReadonlyMap<string, UnwatchedError["table"]>;
  /** Tables that nobody else may change meanwhile. */
  readonly locked: readonly string[];
}

/** What was recorded could not be repeated; somebody else may have come in between. */
class NotRepeatedError extends Error {
  override readonly name = "NotRepeatedError";
  override readonly cause: DatabaseError;
  readonly watched: readonly string[];

  constructor(cause: DatabaseError, watched: readonly string[]) {
    super(cause.message);
    this.cause = cause;
    this.watched = watched;
  }
}

/**
 * Runs statements on top of a log, and tells what they did. Before that is told it is taken back and repeated from the
 * record, as a commit will. `begin` opens a transaction, which is rolled back.
 * @throws DatabaseError (`DATABASE`) for what fails, or cannot be repeated.
 */
export async function recordScript(
  begin: () => Promise<Session>,
  log: readonly LoggedWrite[],
  statements: readonly Statement[],
): Promise<RecordedStatements> {
  const first = new Map<string, UnwatchedError["table"]>();
  let locked: readonly string[] = [];
  for (;;) {
    try {
      return await recordOnce(begin, log, statements, { first, locked });
    } catch (thrown) {
      if (thrown instanceof UnwatchedError) {
        const path = tablePath(thrown.table);
        if (first.has(path)) throw thrown.cause;
        first.set(path, thrown.table);
      } else if (thrown instanceof NotRepeatedError) {
        // With the tables locked it cannot be the work of others.
        if (locked.length > 0 || thrown.watched.length === 0) throw thrown.cause;
        locked = thrown.watched;
      } else {
        throw thrown;
      }
    }
  }
}

async function recordOnce(
  begin: () => Promise<Session>,
  log: readonly LoggedWrite[],
  statements: readonly Statement[],
  { first, locked }: Lessons,
): Promise<RecordedStatements> {
  await using session = await begin();
  for (const table of namedTables(log, statements))
    await lock(session, await findTable(session, table));
  for (const oid of locked) await lock(session, await tableOf(session, oid));
  const capture = new Capture(session);
  const isLate = first.size === 0;
  if (isLate) await redo(session, log);
  await session.run("SAVEPOINT cofferdam_script");
  await capture.prepare();
  if (!isLate) {
    const tables = [...first.values()];
    await capture.watchFirst(tables);
    await redo(session, log, "forward", () => capture.keepOn(tables));
    await capture.forget();
  }
  const before = await lastNumbers(session);
  const done: LoggedStatement[] = [];
  for (const statement of statements) done.push(await capture.run(statement));
  const all = [...log.flatMap((write) => write.statements), ...done];
  const ended = await capture.end(tablesOf(all.flatMap(({ effects }) => effects)));
  if (ended !== null) done.push(ended);
  const recorded = {
    statements: done,
    sequences: movedSequences(before, await lastNumbers(session)),
  };
  const write = { name: "", at: "", ...recorded };
  if (!hasEffects([write])) return recorded;
  await session.run("ROLLBACK TO SAVEPOINT cofferdam_script");
  try {
    await redo(session, isLate ? [write] : [...log, write]);
  } catch (thrown) {
    const refusal = refusalOf(thrown, statements, done);
    throw refusal === null ? thrown : new NotRepeatedError(refusal, capture.watched);
  }
  return recorded;
}

/**
 * The tables of a log that a script names, in one order for all. They are locked before the log is brought in: to watch
 * them takes more than the log does, and of two who have that already, neither could get it.
 */
function namedTables(
  log: readonly LoggedWrite[],
  statements: readonly Statement[],
): readonly RowEffect[] {
  const texts = statements.map(({ text }) => text.toLowerCase());
  const all = tablesOf(log.flatMap((write) => write.statements).flatMap(({ effects }) => effects));
  return all
    .filter(({ table }) => texts.some((text) => text.includes(table.toLowerCase())))
    .toSorted((one, other) => (tablePath(one) < tablePath(other) ? -1 : 1));
}

/** Keeps everybody else from changing a table; one that is made by the log or the script needs no lock. */
async function lock(session: Session, table: Table | null): Promise<void> {
  if (table === null) return;
  try {
    await session.run(`LOCK TABLE ONLY ${table.name} IN SHARE ROW EXCLUSIVE MODE`);
  } catch (thrown) {
    throw heldTable(table, thrown) ?? thrown;
  }
}

/** Why a script cannot be kept that could not be repeated; null when that says nothing about it. */
function refusalOf(
  thrown: unknown,
  statements: readonly Statement[],
  done: readonly LoggedStatement[],
): DatabaseError | null {
  const conflicts = thrown instanceof DriftError ? thrown.conflicts : [];
  const isServers = conflicts.length > 0 || (sqlStateOf(thrown) !== null && !isLost(thrown));
  if (!isServers || conflicts.some(({ reason }) => reason === "locked")) return null;
  const at = done.findLastIndex((logged) => conflicts.some((conflict) => isOf(conflict, logged)));
  const statement = statements[at] ?? statements.at(-1);
  if (statement === undefined) return null;
  const paths = [...new Set(conflicts.map(({ path }) => path))].slice(0, 3).join(", ");
  const where = paths === "" ? "" : ` (${paths})`;
  const why = `it could not be repeated from its record, as a commit does: ${describeThrown(thrown)}${where}`;
  return refused(statement, "notCaptured", why);
}

/** Whether a conflict is about what a statement did. */
function isOf({ path, ours }: RowConflict, { kind, text, effects }: LoggedStatement): boolean {
  if (kind === "schema") return ours === text;
  const [table] = path.split("/", 1);
  return effects.some((effect) => tablePath(effect) === table);
}

/** Each table once. */
function tablesOf(effects: readonly RowEffect[]): readonly RowEffect[] {
  return [...new Map(effects.map((effect) => [tablePath(effect), effect])).values()];
}
