import type { Session } from "./session.ts";
import { type RowImage, type Table, fullName, imageOf, keyOf, quoted, rowSql } from "./tables.ts";
import { type BoundValue, bound } from "./values.ts";

/** The row that has the key of an image, as it is now; null when there is none. */
export function presentRow(session: Session, table: Table, image: RowImage): RowImage | null {
  const { sql, values } = sameKey(table, image);
  const text = session.value(
    `SELECT ${rowSql(table, "t")} FROM ${fullName(table)} t WHERE ${sql}`,
    ...values,
  );
  return typeof text === "string" ? imageOf(table, text) : null;
}

/** What becomes of rows that are in the way, whatever the schema says about that. */
export type OnConflict = "ABORT" | "REPLACE";

/** Adds a row. */
export function insertRow(
  session: Session,
  table: Table,
  image: RowImage,
  onConflict: OnConflict,
): void {
  const given = image.filter(([name]) => !isGenerated(table, name));
  const names = given.map(([name]) => quoted(name));
  const parts = given.map(([, value]) => bound(value));
  session.run(
    `INSERT OR ${onConflict} INTO ${fullName(table)} (${names.join(", ")}) VALUES (${parts.map(({ sql }) => sql).join(", ")})`,
    ...parts.flatMap(({ values }) => values),
  );
}

/** Sets what is different. */
export function updateRow(
  session: Session,
  table: Table,
  before: RowImage,
  after: RowImage,
  onConflict: OnConflict,
): void {
  const changed = after.filter(
    ([name, value], at) => value !== before[at]?.[1] && !isGenerated(table, name),
  );
  const parts = changed.map(([name, value]) => ({ name, ...bound(value) }));
  const where = sameKey(table, before);
  session.run(
    `UPDATE OR ${onConflict} ${fullName(table)} SET ${parts.map(({ name, sql }) => `${quoted(name)} = ${sql}`).join(", ")} WHERE ${where.sql}`,
    ...parts.flatMap(({ values }) => values),
    ...where.values,
  );
}

/** Removes a row. */
export function deleteRow(session: Session, table: Table, image: RowImage): void {
  const { sql, values } = sameKey(table, image);
  session.run(`DELETE FROM ${fullName(table)} WHERE ${sql}`, ...values);
}

function sameKey(table: Table, image: RowImage): BoundValue {
  const key = keyOf(table, image);
  if (key === null || key.length !== table.key.length) return { sql: "false", values: [] };
  const parts = key.map(([name, value]) => ({ name, ...bound(value) }));
  // Byte by byte, as rows are told apart; the first half finds them by the index of the key.
  return {
    sql: parts
      .map(
        ({ name, sql }) => `${quoted(name)} IS ${sql} AND ${quoted(name)} COLLATE BINARY IS ${sql}`,
      )
      .join(" AND "),
    values: parts.flatMap(({ values }) => [...values, ...values]),
  };
}

function isGenerated({ columns }: Table, name: string): boolean {
  return columns.some((column) => column.name === name && column.isGenerated);
}
