import type { RowEffect } from "../log-entry.ts";
import { notCaptured } from "../sql/not-captured.ts";
import type { Session } from "./session.ts";
import { type Table, effectOf, findTables, fullName, imageOf, quoted, rowSql } from "./tables.ts";

/** Tables whose rows are not recorded, but have to be the same: what virtual tables are made of. */
const OTHERS = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'";

const PLAIN =
  "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";

/**
 * The effects that make every table of the main database what it is in another one, in no order; both have the same
 * columns. Rows are told apart by their keys; tables that are gone are left out.
 * @throws DatabaseError (`DATABASE`, reason `notCaptured`).
 */
export function rowDifferences(session: Session, after: string): readonly RowEffect[] {
  const left = new Set(tableNames(session, after));
  const tables = findTables(session, "main").filter(({ table }) => left.has(table));
  requireSameOthers(session, after, tables);
  return tables.flatMap((table) => {
    const later = { ...table, schema: after };
    requireSameNulls(session, table, later);
    return [...changedOrGone(session, table, later), ...added(session, table, later)];
  });
}

/** How many rows of a table of the main database are different, or gone, in another one. */
export function differenceCount(session: Session, table: Table, after: string): number {
  return changedOrGone(session, table, { ...table, schema: after }).length;
}

function tableNames(session: Session, schema: string): readonly string[] {
  const rows = session.all(
    `SELECT name FROM ${quoted(schema)}.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
  );
  return rows.map(({ name }) => String(name));
}

function changedOrGone(session: Session, table: Table, later: Table): readonly RowEffect[] {
  const rows = session.all(
    `SELECT ${rowSql(table, "b")} AS old, CASE WHEN ${isThere(table, "c")} THEN ${rowSql(table, "c")} END AS new
       FROM ${fullName(table)} b LEFT JOIN ${fullName(later)} c ON ${sameKey(table)}
      WHERE ${isThere(table, "b")} AND (NOT (${isThere(table, "c")}) OR ${isDifferent(table)})`,
  );
  return rows.map((row) => effectIn(table, row["old"], row["new"]));
}

function added(session: Session, table: Table, later: Table): readonly RowEffect[] {
  const rows = session.all(
    `SELECT ${rowSql(table, "c")} AS new FROM ${fullName(later)} c
      WHERE ${isThere(table, "c")} AND NOT EXISTS (SELECT 1 FROM ${fullName(table)} b WHERE ${sameKey(table)})`,
  );
  return rows.map((row) => effectIn(table, null, row["new"]));
}

function effectIn(table: Table, before: unknown, after: unknown): RowEffect {
  const [from, to] = [before, after].map((text) =>
    typeof text === "string" ? imageOf(table, text) : null,
  );
  return effectOf(table, from ?? null, to ?? null);
}

function sameKey({ key }: Table): string {
  return key.map((name) => `b.${quoted(name)} IS c.${quoted(name)}`).join(" AND ");
}

/** Whether the row of a name has a key: neither missing from a join, nor NULL in a part of it. */
function isThere({ key }: Table, row: string): string {
  return key.map((name) => `${row}.${quoted(name)} IS NOT NULL`).join(" AND ");
}

/** Byte by byte, whatever the column says about how texts compare. */
function isDifferent({ columns }: Table): string {
  return columns
    .map(({ name }) => {
      const [one, other] = [`b.${quoted(name)}`, `c.${quoted(name)}`];
      return `${one} COLLATE BINARY IS NOT ${other} OR typeof(${one}) <> typeof(${other})`;
    })
    .join(" OR ");
}

/** Rows with NULL in their key cannot be told apart: all of them have to be as they were. */
function requireSameNulls(session: Session, table: Table, later: Table): void {
  const bag = (one: Table): string =>
    `SELECT text, count(*) FROM (SELECT ${rowSql(one, "r")} AS text FROM ${fullName(one)} r WHERE NOT (${isThere(one, "r")})) GROUP BY text`;
  requireSame(
    session,
    bag(table),
    bag(later),
    `rows of ${table.table} have NULL in their primary key`,
  );
}

function requireSameOthers(session: Session, after: string, tables: readonly Table[]): void {
  const known = new Set(tables.map(({ table }) => table));
  const left = new Set(tableNames(session, after));
  const shadows = session.all(OTHERS).map(({ name }) => String(name));
  const plain = session.all(PLAIN).map(({ name }) => String(name));
  const names = [...shadows, ...plain.filter((name) => left.has(name))];
  for (const name of names.filter((one) => !known.has(one))) {
    const [one, other] = ["main", after].map((schema) => `SELECT * FROM ${schema}.${quoted(name)}`);
    requireSame(session, one ?? "", other ?? "", `the rows of ${name} cannot be recorded`);
  }
}

function requireSame(session: Session, one: string, other: string, why: string): void {
  const isSame = [
    [one, other],
    [other, one],
  ].every(
    ([from, to]) => session.value(`SELECT 1 FROM (${from ?? ""} EXCEPT ${to ?? ""})`) === null,
  );
  if (!isSame) throw notCaptured(`${why}, and the command changed them`);
}
