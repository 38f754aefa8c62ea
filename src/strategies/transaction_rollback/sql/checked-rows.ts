import { addToList } from "../../../model/add-to-list.ts";
import { DriftError, type RowConflict } from "../engine.ts";
import type { RowEffect } from "../log-entry.ts";
import { rowPath, tablePath } from "../row-changes.ts";
import { type KeyedTable, type RowStore, keyText } from "./row-store.ts";

/**
 * The tables of effects, by path.
 * @throws DriftError for one that is gone.
 */
export async function tablesOf<T extends KeyedTable>(
  store: RowStore<T>,
  effects: readonly RowEffect[],
): Promise<ReadonlyMap<string, T>> {
  const tables = new Map<string, T>();
  for (const effect of effects) {
    const path = tablePath(effect);
    if (tables.has(path)) continue;
    const table = await store.find(effect);
    if (table === null) throw new DriftError(`The table ${path} is gone`, [missingTable(path)]);
    tables.set(path, table);
  }
  return tables;
}

/**
 * Locks every row that is going to change, and checks it, before the first one does.
 * @throws DriftError for rows that are not as they were.
 */
export async function requireBefore<T extends KeyedTable>(
  store: RowStore<T>,
  tables: ReadonlyMap<string, T>,
  effects: readonly RowEffect[],
): Promise<void> {
  const conflicts: RowConflict[] = [];
  for (const { table, own } of keyedTables(tables, effects)) {
    const first = firstOf(own).filter(({ before }) => before !== null);
    const images = first.map(({ before }) => before ?? "");
    const equal = await store.lockEqual(table, images);
    if (equal.size === images.length) continue;
    const present = await store.presentRows(table, images);
    for (const [at, effect] of first.entries()) {
      if (equal.has(at)) continue;
      const theirs = present.get(at)?.row ?? null;
      conflicts.push(conflictOf(effect, theirs === null ? "missing" : "changed", theirs));
    }
  }
  for (const [path, table] of tables) {
    if (table.key.length > 0) continue;
    const own = effects.filter((effect) => tablePath(effect) === path);
    conflicts.push(...(await missingCopies(store, table, own)));
  }
  if (conflicts.length > 0) throw new DriftError("Rows were changed by somebody else", conflicts);
}

/** Rows without a key are there as often as they have to be, or else conflicts: a cascade could hide that one is not. */
async function missingCopies<T extends KeyedTable>(
  store: RowStore<T>,
  table: T,
  own: readonly RowEffect[],
): Promise<readonly RowConflict[]> {
  const needed = firstCopies(own);
  if (needed.size === 0) return [];
  const present = new Map<string, number>();
  for (const image of await store.lockCopies(table, [...needed.keys()]))
    present.set(image, (present.get(image) ?? 0) + 1);
  return [...needed].flatMap(([image, users]) =>
    users.slice(present.get(image) ?? 0).map((effect) => conflictOf(effect, "missing", null)),
  );
}

/** The effects that need a row which was there before all of them, by its image. */
function firstCopies(effects: readonly RowEffect[]): ReadonlyMap<string, readonly RowEffect[]> {
  const [needed, made] = [new Map<string, RowEffect[]>(), new Map<string, number>()];
  for (const effect of effects) {
    const { before, after } = effect;
    const left = before === null ? 0 : (made.get(before) ?? 0);
    if (before !== null && left > 0) made.set(before, left - 1);
    else if (before !== null) addToList(needed, before, effect);
    if (after !== null) made.set(after, (made.get(after) ?? 0) + 1);
  }
  return needed;
}

/**
 * Checks that every row ended up as it was recorded: neither a default nor a rule may have had its own way.
 * @throws DriftError for rows that did not.
 */
export async function requireAfter<T extends KeyedTable>(
  store: RowStore<T>,
  tables: ReadonlyMap<string, T>,
  effects: readonly RowEffect[],
): Promise<void> {
  const conflicts: RowConflict[] = [];
  for (const { table, own } of keyedTables(tables, effects)) {
    const expected = lastOf(own);
    const images = expected.map(({ image }) => image);
    const present = await store.presentRows(table, images);
    for (const [at, { effect, after }] of expected.entries()) {
      const found = present.get(at);
      if ((found?.image ?? null) !== after)
        conflicts.push(conflictOf(effect, "changed", found?.row ?? null));
    }
  }
  if (conflicts.length > 0)
    throw new DriftError("Rows did not become what was recorded", conflicts);
}

/**
 * What a violated constraint tells, by the rows that are in the way: those that should not be there before the first effect
 * happens, and are. Where there are none, the thrower knows as much as anybody.
 */
export async function tellTaken<T extends KeyedTable>(
  store: RowStore<T>,
  tables: ReadonlyMap<string, T>,
  effects: readonly RowEffect[],
  thrown: unknown,
): Promise<unknown> {
  const conflicts: RowConflict[] = [];
  for (const { table, own } of keyedTables(tables, effects)) {
    const absent = firstOf(own).filter(({ before }) => before === null);
    const images = absent.map(({ after }) => after ?? "");
    // What was thrown first says more than a look that fails, as on a connection that is gone.
    const present = await store.presentRows(table, images).catch(() => null);
    if (present === null) return thrown;
    for (const [at, { row }] of present) {
      const effect = absent[at];
      if (effect !== undefined) conflicts.push(conflictOf(effect, "exists", row));
    }
  }
  return conflicts.length === 0
    ? thrown
    : new DriftError("Rows were added by somebody else", conflicts, thrown);
}

/** An effect whose row is not as the log says. */
export function conflictOf(
  effect: RowEffect,
  reason: RowConflict["reason"],
  theirs: string | null,
): RowConflict {
  const { keyBefore, keyAfter, rowBefore, rowAfter } = effect;
  const path = rowPath(effect, keyBefore ?? keyAfter, rowBefore ?? rowAfter);
  return { path, reason, base: rowBefore, theirs, ours: rowAfter };
}

/** A table that is not as the log says, where no row of it can be named. */
export function changedTable(path: string): RowConflict {
  return { path, reason: "changed", base: null, theirs: null, ours: null };
}

function missingTable(path: string): RowConflict {
  return { path, reason: "missing", base: null, theirs: null, ours: null };
}

/** The tables whose rows can be told apart, each with the effects on it. */
function keyedTables<T extends KeyedTable>(
  tables: ReadonlyMap<string, T>,
  effects: readonly RowEffect[],
): { readonly table: T; readonly own: readonly RowEffect[] }[] {
  const keyed = [...tables].filter(([, table]) => table.key.length > 0);
  return keyed.map(([path, table]) => {
    return { table, own: effects.filter((effect) => tablePath(effect) === path) };
  });
}

/** The first effect on each row that was there, or was not, when the first effect happened. */
function firstOf(effects: readonly RowEffect[]): readonly RowEffect[] {
  const seen = new Set<string>();
  return effects.filter((effect) => {
    const [before, after] = [keyText(effect.keyBefore), keyText(effect.keyAfter)];
    const isFirst = !seen.has(before ?? after ?? "");
    if (before !== null) seen.add(before);
    if (after !== null) seen.add(after);
    return isFirst;
  });
}

/** What each row has to be in the end; the image has its key. */
function lastOf(
  effects: readonly RowEffect[],
): { readonly effect: RowEffect; readonly image: string; readonly after: string | null }[] {
  const last = new Map<string, { effect: RowEffect; image: string; after: string | null }>();
  for (const effect of effects) {
    const { keyBefore, keyAfter, before, after } = effect;
    if (before !== null) last.set(keyText(keyBefore) ?? "", { effect, image: before, after: null });
    if (after !== null) last.set(keyText(keyAfter) ?? "", { effect, image: after, after });
  }
  return [...last.values()];
}
