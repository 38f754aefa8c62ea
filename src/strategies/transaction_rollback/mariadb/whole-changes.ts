import { addToList } from "../../../model/add-to-list.ts";
import type { RowEffect } from "../log-entry.ts";
import { type Row, effectOf, valuesIn } from "./rows.ts";
import type { Table } from "./tables.ts";

/** What happened to a table between two looks at all its rows. */
export function wholeChanges(
  table: Table,
  before: readonly Row[],
  after: readonly Row[],
): readonly RowEffect[] {
  return table.key.length > 0 ? byKey(table, before, after) : byContent(table, before, after);
}

function byKey(table: Table, before: readonly Row[], after: readonly Row[]): readonly RowEffect[] {
  const now = new Map(after.map((row) => [JSON.stringify(row.key), row]));
  const gone: Row[] = [];
  const effects: RowEffect[] = [];
  for (const row of before) {
    const key = JSON.stringify(row.key);
    const left = now.get(key);
    now.delete(key);
    if (left === undefined) gone.push(row);
    else if (left.image !== row.image) effects.push(effectOf(table, row, left));
  }
  return [...effects, ...paired(table, gone, [...now.values()])];
}

/** Equal rows are one as good as the other. */
function byContent(
  table: Table,
  before: readonly Row[],
  after: readonly Row[],
): readonly RowEffect[] {
  const now = new Map<string, Row[]>();
  for (const row of after) addToList(now, row.image, row);
  const gone = before.filter(({ image }) => now.get(image)?.pop() === undefined);
  const come = [...now.values()].flat();
  return table.beginnings.length > 0 ? apart(table, gone, come) : paired(table, gone, come);
}

/** Where a key is of beginnings, nobody can tell how many changes it is for the server when one becomes another. */
function apart(table: Table, gone: readonly Row[], come: readonly Row[]): readonly RowEffect[] {
  const names = table.beginnings.map(({ name }) => name);
  const keyIn = ({ image }: Row): string => JSON.stringify(valuesIn(image, names));
  const now = new Map(come.map((row) => [keyIn(row), row]));
  const effects = gone.map((row) => {
    const left = now.get(keyIn(row)) ?? null;
    now.delete(keyIn(row));
    return effectOf(table, row, left);
  });
  return [...effects, ...[...now.values()].map((row) => effectOf(table, null, row))];
}

/**
 * Rows that went and rows that came: as far as there are both, one is taken to have become the other, so that whoever
 * refers to it can follow. Which one becomes which does not matter for the rows in the end.
 */
function paired(table: Table, gone: readonly Row[], come: readonly Row[]): readonly RowEffect[] {
  const pairs = Math.min(gone.length, come.length);
  return [
    ...gone.slice(0, pairs).map((row, at) => effectOf(table, row, come[at] ?? null)),
    ...gone.slice(pairs).map((row) => effectOf(table, row, null)),
    ...come.slice(pairs).map((row) => effectOf(table, null, row)),
  ];
}
