import type { Catalog } from "./catalog.ts";
import type { Row } from "./rows.ts";
import type { Session } from "./session.ts";
import type { Table } from "./tables.ts";
import type { TouchedRows } from "./touched-rows.ts";

/**
 * How many changes of rows a REPLACE is beyond its effects where the server deletes each row that stands in the way and
 * inserts the new one: two for a row that stays as it was, and one more for one that only changed.
 */
export function changesBeyond(table: Table, touched: TouchedRows, written: readonly Row[]): number {
  return written.reduce((sum, row) => {
    const image = touched.imageOf(table, row);
    if (image === null) return sum;
    return sum + (image === row.image ? 2 : 1);
  }, 0);
}

/**
 * Whether the server never updates a row in the place of deleting and inserting one with the same primary key. It does where
 * nothing refers to the table, and the last of its unique keys is the one that is in the way. The primary key is the first
 * one, and looked at first; only keys that the server checks by itself come before.
 */
export async function isDeletedFirst(
  session: Session,
  catalog: Catalog,
  table: Table,
): Promise<boolean> {
  if ((await catalog.countReferrers(table)) > 0) return true;
  if (table.uniques.length === 0) return false;
  const [row] = await session.run(`SHOW CREATE TABLE ${table.name}`);
  return !/USING HASH|WITHOUT OVERLAPS/i.test(row?.["Create Table"] ?? "WITHOUT OVERLAPS");
}
