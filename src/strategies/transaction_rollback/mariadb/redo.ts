import { type Direction, DriftError, type RowConflict } from "../engine.ts";
import { type LoggedWrite, type RowEffect, inverted } from "../log-entry.ts";
import { tablePath } from "../row-changes.ts";
import { applyEffects } from "../sql/apply-effects.ts";
import { conflictOf, requireAfter, requireBefore, tablesOf } from "../sql/checked-rows.ts";
import { changedRows, countOf } from "./changed-rows.ts";
import { rowsOf } from "./row-statements.ts";
import { type Session, errorNumberOf } from "./session.ts";
import { redoBesideTriggers } from "./triggered-redo.ts";

const DUPLICATE = 1062;
/** Foreign keys and checks that are violated. */
const VIOLATIONS = new Set([1216, 1217, 1451, 1452, 4025]);
/** A lock that was not to be had in time, a deadlock, and a transaction that one of them ended. */
const LOCKED = new Set([1205, 1213, 1402, 1613, 1614]);

/** The effects of a log in the order in which they are applied. */
export function effectsOf(
  log: readonly LoggedWrite[],
  direction: Direction = "forward",
): readonly RowEffect[] {
  const effects = log.flatMap(({ statements }) => statements.flatMap((one) => one.effects));
  return direction === "forward" ? effects : effects.toReversed().map(inverted);
}

/**
 * Applies effects inside an open transaction. Rows are found as they were, and end up as they were recorded; nothing else
 * changes. All constraints count.
 * @throws DriftError when the database is not as the log found it.
 */
export async function redo(session: Session, effects: readonly RowEffect[]): Promise<void> {
  if (effects.length === 0) return;
  await session.be("own");
  try {
    await redoEffects(session, effects);
  } catch (thrown) {
    throw asDrift(thrown, effects);
  }
}

async function redoEffects(session: Session, effects: readonly RowEffect[]): Promise<void> {
  const rows = rowsOf(session);
  const tables = await tablesOf(rows, effects);
  for (const [path, { unfit }] of tables)
    if (unfit !== null)
      throw new DriftError(`The table ${path} changed: ${unfit}`, [changed(path)]);
  await requireBefore(rows, tables, effects);
  if ([...tables.values()].some(({ triggers }) => triggers.length > 0))
    return redoBesideTriggers(session, rows, tables, effects);
  const before = await changedRows(session);
  await applyEffects(rows, tables, effects);
  await requireAfter(rows, tables, effects);
  if ((await changedRows(session)) - before === countOf(effects)) return;
  // A cascade reached rows that the log does not know, or a row without a key was not there.
  throw new DriftError(
    "Other rows than the recorded ones would change",
    [...new Set(effects.map(tablePath))].map(changed),
  );
}

function changed(path: string): RowConflict {
  return { path, reason: "changed", base: null, theirs: null, ours: null };
}

/** Constraints that are violated, and locks that are held, are the work of somebody else: alone it went well. */
function asDrift(thrown: unknown, effects: readonly RowEffect[]): unknown {
  const number = errorNumberOf(thrown);
  if (thrown instanceof DriftError || number === null) return thrown;
  const reason = reasonOf(number);
  if (reason === null) return thrown;
  const message = thrown instanceof Error ? thrown.message : "";
  const conflicts = effects.map((effect) => conflictOf(effect, reason, null));
  return new DriftError(message, conflicts, thrown);
}

function reasonOf(number: number): RowConflict["reason"] | null {
  if (number === DUPLICATE) return "exists";
  if (LOCKED.has(number)) return "locked";
  return VIOLATIONS.has(number) ? "changed" : null;
}
