import { DriftError, type RowConflict } from "../engine.ts";
import type { RowEffect } from "../log-entry.ts";
import { rowPath, tablePath } from "../row-changes.ts";
import { type OnConflict, deleteRow, insertRow, presentRow, updateRow } from "./rows.ts";
import type { Session } from "./session.ts";
import { type RowImage, type Table, sideOf } from "./tables.ts";

/**
 * Makes one row what it was recorded to become. A cascade may have done so already: then nothing is left to do.
 * @throws DriftError when the row is neither as it was nor as it becomes.
 */
export function applyEffect(
  session: Session,
  table: Table,
  effect: RowEffect,
  onConflict: OnConflict,
): void {
  const [before, after] = [imageIn(effect.before), imageIn(effect.after)];
  requireColumns(table, effect, before ?? after);
  if (before === null) {
    if (after !== null) insertRow(session, table, after, onConflict);
    return;
  }
  const present = presentRow(session, table, before);
  if (isSame(present, before)) {
    if (after === null) deleteRow(session, table, before);
    else updateRow(session, table, before, after, onConflict);
    return;
  }
  const become = after === null ? present : presentRow(session, table, after);
  if (isSame(become, after)) return;
  throw new DriftError("Rows were changed by somebody else", [
    conflictOf(table, effect, present === null ? "missing" : "changed", present),
  ]);
}

/** The image in a log as a row. */
export function imageIn(image: string | null): RowImage | null {
  return image === null ? null : (JSON.parse(image) as RowImage);
}

/** A row that is not as the log found it. */
export function conflictOf(
  table: Table,
  effect: RowEffect,
  reason: RowConflict["reason"],
  theirs: RowImage | null,
): RowConflict {
  const { keyBefore, keyAfter, rowBefore, rowAfter } = effect;
  const path = rowPath(effect, keyBefore ?? keyAfter, rowBefore ?? rowAfter);
  return { path, reason, base: rowBefore, theirs: sideOf(table, theirs).row, ours: rowAfter };
}

/** A table that is gone. */
export function missing(effect: RowEffect): RowConflict {
  return { path: tablePath(effect), reason: "missing", base: null, theirs: null, ours: null };
}

function isSame(one: RowImage | null, other: RowImage | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function requireColumns(table: Table, effect: RowEffect, image: RowImage | null): void {
  const names = JSON.stringify(table.columns.map(({ name }) => name));
  if (image === null || JSON.stringify(image.map(([name]) => name)) === names) return;
  throw new DriftError(`The table ${table.table} has other columns now`, [
    conflictOf(table, effect, "changed", null),
  ]);
}
