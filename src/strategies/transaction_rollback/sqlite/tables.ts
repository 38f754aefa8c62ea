import type { RowEffect } from "../log-entry.ts";
import type { Session } from "./session.ts";
import { type Encoded, encodedSql, jsonOf, pathText } from "./values.ts";

/** The table of ours that a database may have for a while; no sandbox sees it. */
export const DECISIONS = "cofferdam_decisions";

/** A column as far as its values are concerned. */
export interface Column {
  readonly name: string;
  readonly isGenerated: boolean;
  /** Whether it holds nothing but texts and blobs. */
  readonly isText: boolean;
}

/** A table whose rows can be told apart. */
export interface Table {
  readonly schema: string;
  readonly table: string;
  /** All columns, the number of the row first where that is the key. */
  readonly columns: readonly Column[];
  /** The names of the columns of the key. */
  readonly key: readonly string[];
}

/** A row: every value by the name of its column, in their order. */
export type RowImage = readonly (readonly [column: string, value: Encoded])[];

const ROW_NUMBERS = ["rowid", "_rowid_", "oid"];
const TABLES = `SELECT name, wr FROM pragma_table_list
 WHERE schema = ? AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> '${DECISIONS}'`;

/** The tables of a database whose rows can be recorded: not virtual ones, nor what these are made of. */
export function findTables(session: Session, schema: string): readonly Table[] {
  const rows = session.all(TABLES, schema);
  return rows.flatMap((row) => tableOf(session, schema, row) ?? []);
}

/** Looks a table up; null when there is none whose rows can be recorded. */
export function findTable(session: Session, schema: string, name: string): Table | null {
  const [row] = session.all(`${TABLES} AND lower(name) = lower(?)`, schema, name);
  return row === undefined ? null : tableOf(session, schema, row);
}

function tableOf(
  session: Session,
  schema: string,
  row: Readonly<Record<string, unknown>>,
): Table | null {
  const table = String(row["name"]);
  const found = session.all(
    "SELECT name, type, pk, hidden FROM pragma_table_xinfo(?, ?) ORDER BY cid",
    table,
    schema,
  );
  const columns = found.map((column): Column => ({
    name: String(column["name"]),
    isGenerated: Number(column["hidden"]) > 1,
    isText: isTextType(String(column["type"])),
  }));
  const key = found
    .filter(({ pk }) => Number(pk) > 0)
    .toSorted((a, b) => Number(a["pk"]) - Number(b["pk"]))
    .map(({ name }) => String(name));
  if (key.length > 0) return { schema, table, columns, key };
  const taken = new Set(columns.map(({ name }) => name.toLowerCase()));
  const name = ROW_NUMBERS.find((one) => !taken.has(one));
  if (name === undefined) return null;
  const number = { name, isGenerated: false, isText: false };
  return { schema, table, columns: [number, ...columns], key: [name] };
}

/** As SQLite finds the affinity of a declared type. */
function isTextType(type: string): boolean {
  return !/INT/i.test(type) && /CHAR|CLOB|TEXT/i.test(type);
}

/** A name in a statement. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A table in a statement. */
export function fullName({ schema, table }: Table): string {
  return `${quoted(schema)}.${quoted(table)}`;
}

const JOINED = " || ',' || ";
/** SQLite takes so deep an expression only, and each part of a chain is one level deeper than the one before. */
const MOST_JOINED = 100;

/** The expression that gives a whole row as one text; `row` is the name of the row. */
export function rowSql(
  { columns }: { readonly columns: readonly Pick<Column, "name">[] },
  row: string,
): string {
  const values = columns.map(({ name }) => encodedSql(`${row}.${quoted(name)}`));
  const groups = Array.from({ length: Math.ceil(values.length / MOST_JOINED) }, (_, at) =>
    values.slice(at * MOST_JOINED, (at + 1) * MOST_JOINED).join(JOINED),
  );
  return groups.length < 2 ? groups.join("") : `(${groups.join(`)${JOINED}(`)})`;
}

/** What that expression gave as a row. */
export function imageOf({ columns }: Table, text: string): RowImage {
  const values = text.split(",");
  return columns.map(({ name }, at) => [name, values[at] ?? "n"] as const);
}

/** The key of a row; null where a part of it is NULL, so that the row cannot be told apart. */
export function keyOf({ key }: Table, image: RowImage): RowImage | null {
  const parts = key.flatMap((wanted) => image.filter(([name]) => name === wanted));
  return parts.some(([, value]) => value === "n") ? null : parts;
}

/** One side of an effect. */
export interface EffectSide {
  readonly key: readonly string[] | null;
  readonly image: string | null;
  readonly row: string | null;
}

/** A row as one side of an effect. */
export function sideOf(table: Table, image: RowImage | null): EffectSide {
  if (image === null) return { key: null, image: null, row: null };
  const texts = new Set(table.columns.filter(({ isText }) => isText).map(({ name }) => name));
  const key = keyOf(table, image)?.map(([name, value]) => pathText(value, texts.has(name))) ?? null;
  const lines = image.map(([name, value]) => `${JSON.stringify(name)}:${jsonOf(value)}`);
  return { key, image: JSON.stringify(image), row: `{${lines.join(",\n ")}}\n` };
}

/** The effect that makes one row another. A log always calls its database `main`. */
export function effectOf(table: Table, before: RowImage | null, after: RowImage | null): RowEffect {
  const [from, to] = [sideOf(table, before), sideOf(table, after)];
  return {
    schema: "main",
    table: table.table,
    keyBefore: from.key,
    keyAfter: to.key,
    before: from.image,
    after: to.image,
    rowBefore: from.row,
    rowAfter: to.row,
  };
}
