import { addToList } from "../../../model/add-to-list.ts";
import type { RowEffect } from "../log-entry.ts";
import { type Session, type TextRow, literal, quoted } from "./session.ts";

/** How the values of a column are read and written. */
export type ColumnKind = "number" | "bit" | "text" | "binary";

/** One column. */
export interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
  /** What is selected to read it exactly. */
  expression(table: string): string;
  /** Computed by the server; nobody can give it a value. */
  readonly isGenerated: boolean;
  /** Moves by itself when the row changes, unless it is given a value. */
  readonly isMoving: boolean;
  /** Depends on the time zone of the session. */
  readonly isZoned: boolean;
}

/** A foreign key that refers to a table. */
export interface Referrer {
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly referred: readonly string[];
  /** Whether a change of the referred row changes the one that refers. */
  readonly isCascading: boolean;
}

/** A table as far as its rows are concerned. */
export interface Table {
  readonly schema: string;
  readonly table: string;
  /** Quoted, with its schema. */
  readonly name: string;
  /** The columns of the primary key; empty when there is none that tells whole values apart. */
  readonly key: readonly Column[];
  /** The columns of a primary key that has the beginnings of values only, as in `PRIMARY KEY (name(3))`. */
  readonly beginnings: readonly Column[];
  readonly columns: readonly Column[];
  /** The columns of its other unique keys. */
  readonly uniques: readonly (readonly Column[])[];
  /** The bodies of its triggers. */
  readonly triggers: readonly string[];
  /** Why its rows cannot be recorded; null when they can. */
  readonly unfit: string | null;
}

const PRIMARY = "PRIMARY";
const NUMBERS = new Set(
  "tinyint smallint mediumint int bigint decimal float double year".split(" "),
);
const TEXTS = new Set(
  "char varchar tinytext text mediumtext longtext enum set date datetime timestamp time uuid inet4 inet6".split(
    " ",
  ),
);
const BINARIES = new Set("binary varbinary tinyblob blob mediumblob longblob".split(" "));
/** Character sets whose every text comes back from Unicode as the same bytes. */
const CHARSETS =
  /^(utf8|utf8mb3|utf8mb4|ucs2|utf16|utf16le|utf32|ascii|latin[1257]|cp125[0-7]|cp85[02]|cp866|koi8[ru]|greek|hebrew)$/;

/** Looks a table up; null when there is none, or it is a view. */
export async function findTable(
  session: Session,
  { schema, table }: Pick<RowEffect, "schema" | "table">,
): Promise<Table | null> {
  const where = `TABLE_SCHEMA = ${literal(schema)} AND TABLE_NAME = ${literal(table)}`;
  const [facts] = await rowsNamed(
    session,
    `SELECT TABLE_NAME, TABLE_TYPE, ENGINE FROM information_schema.TABLES WHERE ${where}`,
    table,
  );
  if (facts === undefined || facts["TABLE_TYPE"] === "VIEW") return null;
  const columns = await rowsNamed(
    session,
    `SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, CHARACTER_SET_NAME, EXTRA, IS_GENERATED FROM information_schema.COLUMNS
      WHERE ${where} ORDER BY ORDINAL_POSITION`,
    table,
  );
  const keys = await rowsNamed(
    session,
    `SELECT TABLE_NAME, INDEX_NAME, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS
      WHERE ${where} AND NON_UNIQUE = 0 ORDER BY INDEX_NAME, SEQ_IN_INDEX`,
    table,
  );
  const triggers = await rowsNamed(
    session,
    `SELECT EVENT_OBJECT_TABLE AS TABLE_NAME, ${bodyIn("ACTION_STATEMENT")} AS ACTION_STATEMENT FROM information_schema.TRIGGERS
      WHERE EVENT_OBJECT_SCHEMA = ${literal(schema)} AND EVENT_OBJECT_TABLE = ${literal(table)}`,
    table,
  );
  const all = columns.map(columnOf);
  const named = new Map(all.map((column) => [column.name, column]));
  const indexes = new Map<string, Column[]>();
  for (const row of keys) {
    const column = named.get(row["COLUMN_NAME"] ?? "");
    const index = row["INDEX_NAME"] ?? "";
    if (column !== undefined) addToList(indexes, index, column);
  }
  const primary = indexes.get(PRIMARY) ?? [];
  const isOfBeginnings = keys.some(
    (row) => row["INDEX_NAME"] === PRIMARY && (row["SUB_PART"] ?? null) !== null,
  );
  return {
    schema,
    table,
    name: `${quoted(schema)}.${quoted(table)}`,
    key: isOfBeginnings ? [] : primary,
    beginnings: isOfBeginnings ? primary : [],
    columns: all,
    uniques: [...indexes].flatMap(([index, columns]) => (index === PRIMARY ? [] : [columns])),
    triggers: triggers.map((row) => row["ACTION_STATEMENT"] ?? ""),
    unfit: unfitTable(facts) ?? columns.map(unfitColumn).find((why) => why !== null) ?? null,
  };
}

/** The foreign keys that refer to a table. */
export async function referrersOf(
  session: Session,
  { schema, table }: Pick<Table, "schema" | "table">,
): Promise<readonly Referrer[]> {
  const rows = await session.run(
    `SELECT k.REFERENCED_TABLE_NAME AS TABLE_NAME, k.CONSTRAINT_NAME, k.TABLE_SCHEMA, k.TABLE_NAME AS CHILD, k.COLUMN_NAME, k.REFERENCED_COLUMN_NAME,
        r.UPDATE_RULE, r.DELETE_RULE FROM information_schema.KEY_COLUMN_USAGE k JOIN information_schema.REFERENTIAL_CONSTRAINTS r
        ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME
      WHERE k.REFERENCED_TABLE_SCHEMA = ${literal(schema)} AND k.REFERENCED_TABLE_NAME = ${literal(table)}
      ORDER BY k.TABLE_SCHEMA, k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION`,
  );
  const found = new Map<string, TextRow[]>();
  for (const row of rows) {
    const name = JSON.stringify([row["TABLE_SCHEMA"], row["CHILD"], row["CONSTRAINT_NAME"]]);
    addToList(found, name, row);
  }
  return [...found.values()].map((parts) => {
    const rules = [parts[0]?.["UPDATE_RULE"], parts[0]?.["DELETE_RULE"]];
    return {
      schema: parts[0]?.["TABLE_SCHEMA"] ?? "",
      table: parts[0]?.["CHILD"] ?? "",
      columns: parts.map((part) => part["COLUMN_NAME"] ?? ""),
      referred: parts.map((part) => part["REFERENCED_COLUMN_NAME"] ?? ""),
      isCascading: rules.some((rule) => rule !== "RESTRICT" && rule !== "NO ACTION"),
    };
  });
}

/**
 * A body as we read it: one that was written with double quotes around names has the others instead, and one in which a
 * backslash is a sign as any other has two for each.
 */
export function bodyIn(column: string): string {
  const named = `IF(SQL_MODE LIKE '%ANSI_QUOTES%', REPLACE(${column}, '"', '\`'), ${column})`;
  const sign = "CHAR(92 USING utf8mb4)";
  return `IF(SQL_MODE LIKE '%NO_BACKSLASH_ESCAPES%', REPLACE(${named}, ${sign}, CONCAT(${sign}, ${sign})), ${named})`;
}

/** The catalogue compares names without regard to their case; tables may differ in nothing else. */
async function rowsNamed(
  session: Session,
  query: string,
  table: string,
): Promise<readonly TextRow[]> {
  const rows = await session.run(query);
  return rows.filter((row) => row["TABLE_NAME"] === table);
}

function columnOf(row: TextRow): Column {
  const [name, type, extra] = [
    row["COLUMN_NAME"] ?? "",
    row["DATA_TYPE"] ?? "",
    row["EXTRA"] ?? "",
  ];
  const kind = kindOfType(type) ?? "text";
  return {
    name,
    kind,
    expression: (table) => {
      const column = `${table}.${quoted(name)}`;
      if (type === "float") return `CAST(${column} AS DOUBLE)`;
      return kind === "bit" ? `${column} + 0` : column;
    },
    isGenerated: row["IS_GENERATED"] === "ALWAYS",
    isMoving: /\bon update\b/i.test(extra),
    isZoned: type === "timestamp",
  };
}

function kindOfType(type: string): ColumnKind | null {
  if (NUMBERS.has(type)) return "number";
  if (type === "bit") return "bit";
  if (BINARIES.has(type)) return "binary";
  return TEXTS.has(type) ? "text" : null;
}

function unfitTable(row: TextRow): string | null {
  const type = row["TABLE_TYPE"] ?? "";
  if (type === "SYSTEM VERSIONED") return "it has system versioning";
  if (type !== "BASE TABLE") return `it is a ${type.toLowerCase()}`;
  const engine = row["ENGINE"] ?? "?";
  return engine === "InnoDB" ? null : `its engine ${engine} has no transactions`;
}

function unfitColumn(row: TextRow): string | null {
  const [type, charset] = [row["DATA_TYPE"] ?? "", row["CHARACTER_SET_NAME"] ?? null];
  if (kindOfType(type) === null) return `its column ${row["COLUMN_NAME"] ?? ""} is a ${type}`;
  if (charset === null || CHARSETS.test(charset)) return null;
  return `texts in ${charset} cannot be recorded exactly`;
}
