import { type Direction, DriftError } from "../engine.ts";
import { type LoggedWrite, type RowEffect, inverted } from "../log-entry.ts";
import { applyEffect, conflictOf, imageIn, missing } from "./apply-effect.ts";
import { Capture } from "./capture.ts";
import { isTaken, isViolation } from "./codes.ts";
import { differences, firstEffects } from "./net-effects.ts";
import { qualifySchema } from "./qualify-schema.ts";
import { type OnConflict, presentRow } from "./rows.ts";
import { catchUp } from "./sequences.ts";
import type { Session } from "./session.ts";
import { type Table, findTable, quoted } from "./tables.ts";

/**
 * Applies a log inside an open transaction to the database of a name. Rows are found as they were, and end up as they
 * were recorded; nothing else changes. The triggers of the user are dropped for the time being and made again from their
 * own text, because what they did is in the log. All constraints count; foreign keys are checked by the commit.
 * @throws DriftError when the database is not as the log found it.
 */
export function redo(
  session: Session,
  schema: string,
  log: readonly LoggedWrite[],
  direction: Direction,
): void {
  // Never switched off again before the commit: SQLite would forget what it has still to check.
  session.exec("PRAGMA defer_foreign_keys = ON");
  const statements = log.flatMap((write) => write.statements);
  let effects: RowEffect[] = [];
  const flush = (): void => {
    if (effects.length > 0) redoEffects(session, schema, effects);
    effects = [];
  };
  for (const { kind, text, effects: own } of isForward(direction)
    ? statements
    : statements.toReversed()) {
    if (kind === "schema") {
      flush();
      repeatSchema(session, schema, text);
    } else effects.push(...(isForward(direction) ? own : own.toReversed().map(inverted)));
  }
  flush();
  if (isForward(direction)) for (const { sequences } of log) catchUp(session, schema, sequences);
}

/**
 * Applies effects, and nothing but these.
 * @throws DriftError when rows are not as the effects found them, or others would change too.
 */
export function redoEffects(session: Session, schema: string, effects: readonly RowEffect[]): void {
  const tables = tablesOf(session, schema, effects);
  requireBefore(session, tables, effects);
  const wrong = differences(effects, applyAll(session, schema, tables, effects, "ABORT"));
  if (wrong.length > 0)
    throw new DriftError("Other rows than the recorded ones would change", wrong);
}

/**
 * Applies effects of a statement that may have replaced rows unseen, and tells all that they do: a row that is replaced
 * is in the way of a recorded one, at the very same place among the effects.
 * @throws DriftError when anything else happens.
 */
export function effectsWithReplaced(
  session: Session,
  effects: readonly RowEffect[],
): readonly RowEffect[] {
  const tables = tablesOf(session, "main", effects);
  session.exec("PRAGMA recursive_triggers = ON");
  const found = applyAll(session, "main", tables, effects, "REPLACE");
  const whatOf = ({ table, before, after }: RowEffect): string =>
    JSON.stringify([table, before, after]);
  const known = new Set(effects.map(whatOf));
  const others = found.filter((effect) => !known.has(whatOf(effect)));
  if (found.length - others.length !== effects.length || others.some(({ after }) => after !== null))
    throw new DriftError("Other rows than the recorded ones would change", []);
  return found;
}

/** Applies effects while the triggers of the user are away, and tells what happened. */
function applyAll(
  session: Session,
  schema: string,
  tables: ReadonlyMap<string, Table>,
  effects: readonly RowEffect[],
  onConflict: OnConflict,
): readonly RowEffect[] {
  return watching(session, schema, tables, (capture) => {
    for (const effect of effects) {
      const table = tables.get(effect.table);
      if (table !== undefined) applyOrTell(session, table, effect, onConflict);
    }
    return capture.take();
  });
}

/** Runs work while the triggers of the user are away, and everything that it does to rows of tables can be seen. */
export function watching<T>(
  session: Session,
  schema: string,
  tables: ReadonlyMap<string, Table>,
  work: (capture: Capture) => T,
): T {
  const triggers = triggersOf(session, schema, tables);
  for (const { name } of triggers) session.exec(`DROP TRIGGER ${quoted(schema)}.${quoted(name)}`);
  const capture = new Capture(session);
  capture.install([...tables.values(), ...neighbours(session, schema, tables)]);
  const result = work(capture);
  capture.uninstall();
  for (const { sql } of triggers) session.exec(sql);
  return result;
}

function isForward(direction: Direction): boolean {
  return direction === "forward";
}

function repeatSchema(session: Session, schema: string, text: string): void {
  try {
    session.exec(qualifySchema(text, schema));
  } catch (cause) {
    const told = cause instanceof Error ? cause.message : "";
    throw new DriftError(
      `The schema cannot be changed any more: ${told}`,
      [{ path: "schema-changes", reason: "changed", base: null, theirs: null, ours: text }],
      cause,
    );
  }
}

/**
 * The tables of effects by their names.
 * @throws DriftError when one is gone.
 */
export function tablesOf(
  session: Session,
  schema: string,
  effects: readonly RowEffect[],
): ReadonlyMap<string, Table> {
  const tables = new Map<string, Table>();
  for (const effect of effects) {
    if (tables.has(effect.table)) continue;
    const table = findTable(session, schema, effect.table);
    if (table === null)
      throw new DriftError(`The table ${effect.table} is gone`, [missing(effect)]);
    tables.set(effect.table, table);
  }
  return tables;
}

/** Tables that a cascade may reach although the log has no row of theirs. */
function neighbours(
  session: Session,
  schema: string,
  tables: ReadonlyMap<string, Table>,
): readonly Table[] {
  const rows = session.all(
    `SELECT DISTINCT l.name, lower(k."table") AS parent FROM pragma_table_list l, pragma_foreign_key_list(l.name, ?) k
      WHERE l.schema = ? AND l.type = 'table' AND (k.on_delete NOT IN ('NO ACTION', 'RESTRICT') OR k.on_update NOT IN ('NO ACTION', 'RESTRICT'))`,
    schema,
    schema,
  );
  const reached = new Set([...tables.keys()].map((name) => name.toLowerCase()));
  const own = new Set(reached);
  const found = new Set<string>();
  for (let size = -1; size !== reached.size;) {
    size = reached.size;
    for (const { name, parent } of rows) {
      const lower = String(name).toLowerCase();
      if (!reached.has(String(parent)) || own.has(lower)) continue;
      reached.add(lower);
      found.add(String(name));
    }
  }
  return [...found].flatMap((name) => findTable(session, schema, name) ?? []);
}

/** Checks every row that is going to change before the first one does. */
function requireBefore(
  session: Session,
  tables: ReadonlyMap<string, Table>,
  effects: readonly RowEffect[],
): void {
  const conflicts = firstEffects(effects).flatMap((effect) => {
    const table = tables.get(effect.table);
    const image = imageIn(effect.before ?? effect.after);
    if (table === undefined || image === null) return [];
    const present = presentRow(session, table, image);
    if ((present === null ? null : JSON.stringify(present)) === effect.before) return [];
    const reason = present === null ? "missing" : effect.before === null ? "exists" : "changed";
    return [conflictOf(table, effect, reason, present)];
  });
  if (conflicts.length > 0) throw new DriftError("Rows were changed by somebody else", conflicts);
}

/** The triggers of tables, in the order in which they were made. */
function triggersOf(
  session: Session,
  schema: string,
  tables: ReadonlyMap<string, Table>,
): readonly { readonly name: string; readonly sql: string }[] {
  const names = new Set([...tables.keys()].map((name) => name.toLowerCase()));
  const rows = session.all(
    `SELECT name, lower(tbl_name) AS place, sql FROM ${quoted(schema)}.sqlite_schema WHERE type = 'trigger' ORDER BY rowid`,
  );
  return rows
    .filter(({ place }) => names.has(String(place)))
    .map(({ name, sql }) => ({ name: String(name), sql: qualifySchema(String(sql), schema) }));
}

/** A constraint that is violated is the work of somebody else: alone it went well. */
export function applyOrTell(
  session: Session,
  table: Table,
  effect: RowEffect,
  onConflict: OnConflict,
): void {
  try {
    applyEffect(session, table, effect, onConflict);
  } catch (thrown) {
    if (!isViolation(thrown)) throw thrown;
    const message = thrown instanceof Error ? thrown.message : "";
    const reason = isTaken(thrown) ? "exists" : "changed";
    throw new DriftError(message, [conflictOf(table, effect, reason, null)], thrown);
  }
}
