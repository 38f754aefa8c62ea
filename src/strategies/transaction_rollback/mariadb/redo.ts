import { type Direction, DriftError, type RowConflict } from "../engine.ts";
import { type LoggedWrite, type RowEffect, inverted } from "../log-entry.ts";
import { tablePath } from "../row-changes.ts";
import { applyEffects } from "../sql/apply-effects.ts";
import {
  changedTable,
  conflictOf,
  requireAfter,
  requireBefore,
  tablesOf,
  tellTaken,
} from "../sql/checked-rows.ts";
import { changedRows, countOf } from "./changed-rows.ts";
import { isPassing, rowsOf } from "./row-statements.ts";
import { type Session, errorNumberOf, isHeld } from "./session.ts";
import type { Table } from "./tables.ts";
import { type EffectGroup, redoBesideTriggers } from "./triggered-redo.ts";

const DUPLICATE = 1062;
/** Foreign keys and checks that are violated. */
const VIOLATIONS = new Set([1216, 1217, 1451, 1452, 4025]);

/** What each statement of a log did, in the order in which it is applied. */
export function groupsOf(
  log: readonly LoggedWrite[],
  direction: Direction = "forward",
): readonly EffectGroup[] {
  const groups = log.flatMap(({ statements }) => statements.map(({ effects }) => effects));
  if (direction === "forward") return groups;
  return groups.toReversed().map((effects) => effects.toReversed().map(inverted));
}

/**
 * Applies effects inside an open transaction. Rows are found as they were, and end up as they were recorded; nothing else
 * changes. All constraints count.
 * @throws DriftError when the database is not as the log found it.
 */
export async function redo(session: Session, groups: readonly EffectGroup[]): Promise<void> {
  const effects = groups.flat();
  if (effects.length === 0) return;
  await session.be("own");
  try {
    await redoGroups(session, groups, effects);
  } catch (thrown) {
    throw asDrift(thrown, effects);
  }
}

async function redoGroups(
  session: Session,
  groups: readonly EffectGroup[],
  effects: EffectGroup,
): Promise<void> {
  const rows = rowsOf(session);
  const tables = await tablesOf(rows, effects);
  for (const [path, { unfit }] of tables)
    if (unfit !== null)
      throw new DriftError(`The table ${path} changed: ${unfit}`, [changedTable(path)]);
  await requireBefore(rows, tables, effects);
  await session.execute("SAVEPOINT cofferdam_redo");
  try {
    await applyTogether(session, tables, groups);
  } catch (thrown) {
    const reason = reasonOf(thrown);
    if (reason === null || reason === "locked") throw thrown;
    // A second look tells which rows are in the way.
    await session.execute("ROLLBACK TO SAVEPOINT cofferdam_redo");
    throw await tellTaken(rows, tables, effects, thrown);
  }
}

async function applyTogether(
  session: Session,
  tables: ReadonlyMap<string, Table>,
  groups: readonly EffectGroup[],
): Promise<void> {
  try {
    // Rows of different statements go together as long as they do not get in each other's way.
    await applyGroups(session, tables, [groups.flat()]);
  } catch (thrown) {
    const isOrder = thrown instanceof DriftError || isPassing(thrown);
    if (!isOrder || groups.length < 2) throw thrown;
    await session.execute("ROLLBACK TO SAVEPOINT cofferdam_redo");
    await applyGroups(session, tables, groups);
  }
}

async function applyGroups(
  session: Session,
  tables: ReadonlyMap<string, Table>,
  groups: readonly EffectGroup[],
): Promise<void> {
  const [rows, effects] = [rowsOf(session), groups.flat()];
  if ([...tables.values()].some(({ triggers }) => triggers.length > 0))
    return redoBesideTriggers(session, rows, tables, groups);
  const before = await changedRows(session);
  for (const group of groups) await applyEffects(rows, tables, group);
  await requireAfter(rows, tables, effects);
  if ((await changedRows(session)) - before === countOf(effects)) return;
  // A cascade reached rows that the log does not know, or a row without a key was not there.
  throw new DriftError(
    "Other rows than the recorded ones would change",
    [...new Set(effects.map(tablePath))].map(changedTable),
  );
}

/** Constraints that are violated, and locks that are held, are the work of somebody else: alone it went well. */
function asDrift(thrown: unknown, effects: readonly RowEffect[]): unknown {
  const reason = thrown instanceof DriftError ? null : reasonOf(thrown);
  if (reason === null) return thrown;
  const message = thrown instanceof Error ? thrown.message : "";
  const conflicts = effects.map((effect) => conflictOf(effect, reason, null));
  return new DriftError(message, conflicts, thrown);
}

function reasonOf(thrown: unknown): RowConflict["reason"] | null {
  const number = errorNumberOf(thrown) ?? 0;
  if (number === DUPLICATE) return "exists";
  if (isHeld(thrown)) return "locked";
  return VIOLATIONS.has(number) ? "changed" : null;
}
