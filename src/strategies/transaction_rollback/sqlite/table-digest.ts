import { createHash } from "node:crypto";
import type { Session } from "./session.ts";
import { quoted, rowSql } from "./tables.ts";

/** Sums of digests are cut here. */
const SIZE = 2n ** 256n;

/**
 * What tells whether a table is still the same: its definition, indexes and triggers, and all rows in any order. Empty
 * where there is no such table.
 */
export function tableDigest(session: Session, schema: string, table: string): string {
  const place = quoted(schema);
  const objects = session.all(
    `SELECT sql FROM ${place}.sqlite_schema WHERE lower(tbl_name) = lower(?) AND sql IS NOT NULL ORDER BY type, name`,
    table,
  );
  if (objects.length === 0) return "";
  const columns = session
    .all("SELECT name FROM pragma_table_xinfo(?, ?) WHERE hidden <> 1 ORDER BY cid", table, schema)
    .map(({ name }) => ({ name: String(name) }));
  let [rows, sum] = [0, 0n];
  const query = `SELECT ${rowSql({ columns }, "r")} AS text FROM ${place}.${quoted(table)} r`;
  for (const { text } of session.each(query)) {
    rows += 1;
    sum = (sum + BigInt(`0x${digest(String(text))}`)) % SIZE;
  }
  const texts = objects.map(({ sql }) => String(sql));
  return digest(JSON.stringify([texts, rows, sum.toString(16)]));
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
