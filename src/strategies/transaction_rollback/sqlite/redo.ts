import { type Direction, DriftError } from "../engine.ts";
import { type LoggedWrite, type RowEffect, inverted } from "../log-entry.ts";
import { applyEffect, conflictOf, imageIn, missing } from "./apply-effect.ts";
import { isTaken, isViolation } from "./codes.ts";
import { differences, firstEffects } from "./net-effects.ts";
import { repeatSchema } from "./repeat-schema.ts";
import { type OnConflict, presentRow } from "./rows.ts";
import { catchUp } from "./sequences.ts";
import type { Session } from "./session.ts";
import { type Table, findTable } from "./tables.ts";
import { watching } from "./watching.ts";

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
  const all = log.flatMap((write) => write.statements);
  const statements = isForward(direction) ? all : all.toReversed();
  let effects: RowEffect[] = [];
  const flush = (): void => {
    if (effects.length > 0) redoEffects(session, schema, effects);
    effects = [];
  };
  for (const [at, statement] of statements.entries()) {
    const { kind, effects: own } = statement;
    if (kind === "schema") {
      flush();
      // One that makes a table again belongs to the one before.
      if (statements[at - 1]?.drops?.[0]?.isMadeAgain !== true)
        repeatSchema(session, schema, statement, statements[at + 1]);
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

function isForward(direction: Direction): boolean {
  return direction === "forward";
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
