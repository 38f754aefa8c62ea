import type { RowEffect } from "../log-entry.ts";
import type { PresentRow } from "../sql/row-store.ts";
import { type Session, literal, quoted } from "./session.ts";
import type { Column, Table } from "./tables.ts";

/** A row with the texts of its key; null where the table has none. */
export interface Row extends PresentRow {
  readonly key: readonly string[] | null;
}

/** Values as exact texts, by column. */
export type Values = Readonly<Record<string, string | null>>;

/** So many rows are asked for, or written, in one statement. */
export const CHUNK = 200;
/** Statements get no longer than this, unless one row is. */
const LONGEST = 1_000_000;
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** Reads rows and locks them; `condition` is what follows the name of the table. The session has to be in its own mode. */
export async function readRows(
  session: Session,
  table: Table,
  condition = "",
): Promise<readonly Row[]> {
  const list = table.columns.map((column) => column.expression(table.name)).join(", ");
  const { rows } = await session.query(`SELECT ${list} FROM ${table.name} ${condition} FOR UPDATE`);
  return rows.map((values) => rowOf(table, values));
}

/** Reads the rows that have keys, and locks them. */
export async function readKeys(
  session: Session,
  table: Table,
  keys: readonly (readonly (string | null)[])[],
): Promise<readonly Row[]> {
  return readValues(session, table, table.key, keys);
}

/** Reads the rows that have one of several combinations of values, and locks them; NULL is none. */
export async function readValues(
  session: Session,
  table: Table,
  columns: readonly Column[],
  values: readonly (readonly (string | null)[])[],
): Promise<readonly Row[]> {
  const found: Row[] = [];
  const complete = values.filter((row) => row.every((value) => value !== null));
  for (const chunk of chunksOf(complete))
    found.push(...(await readRows(session, table, `WHERE ${isOneOf(table, columns, chunk)}`)));
  return found;
}

/** Reads the rows that have the same value as others in any unique key, and locks them. */
export async function readUnique(
  session: Session,
  table: Table,
  others: readonly Row[],
): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (const columns of [table.key, ...table.uniques]) {
    const names = columns.map(({ name }) => name);
    const values = others.map(({ image }) => valuesIn(image, names));
    found.push(...(await readValues(session, table, columns, values)));
  }
  return found;
}

/** The condition that columns have one of several combinations of values. */
export function isOneOf(
  { name }: Table,
  columns: readonly Column[],
  values: readonly (readonly (string | null)[])[],
): string {
  const [column, second] = columns;
  if (column !== undefined && second === undefined) {
    const list = values.map(([value = null]) => valueOf(column, value)).join(", ");
    return `${name}.${quoted(column.name)} IN (${list})`;
  }
  const each = values.map((row) =>
    columns
      .map((one, at) => `${name}.${quoted(one.name)} = ${valueOf(one, row[at] ?? null)}`)
      .join(" AND "),
  );
  return `(${each.join(") OR (")})`;
}

/** The key of an image. */
export function keyOfImage({ key }: Table, image: string): readonly string[] {
  const values = valuesOf(image);
  return key.map(({ name }) => values[name] ?? "");
}

/** The values of an image. */
export function valuesOf(image: string): Values {
  return JSON.parse(image) as Values;
}

/** Some values of an image. */
export function valuesIn(image: string, names: readonly string[]): readonly (string | null)[] {
  const values = valuesOf(image);
  return names.map((name) => values[name] ?? null);
}

/** A value as it is written in a statement, the same in every time zone. */
export function valueOf({ kind, name, isZoned }: Column, value: string | null): string {
  if (value === null) return "NULL";
  const seconds = isZoned ? secondsOf(value) : null;
  if (seconds !== null) return `FROM_UNIXTIME(${seconds})`;
  if (kind === "binary") return `X'${hexOnly(value)}'`;
  if (kind === "text") return literal(value);
  if (!/^-?[\d.]+([eE][+-]?\d+)?$/.test(value)) throw new Error(`${name} has no number`);
  return value;
}

/** The seconds of a moment since 1970, as they are written; null for the zero date, which is none. */
export function secondsOf(value: string): string | null {
  const [, seconds = "", fraction = ""] = /^([^.]*)(\.\d+)?$/.exec(value) ?? [];
  const since = Date.parse(`${seconds.replace(" ", "T")}Z`) / 1000;
  return since > 0 ? `${since}${fraction}` : null;
}

/** What a change of a row is in the log. */
export function effectOf(
  { schema, table }: Table,
  before: Row | null,
  after: Row | null,
): RowEffect {
  return {
    schema,
    table,
    keyBefore: before?.key ?? null,
    keyAfter: after?.key ?? null,
    before: before?.image ?? null,
    after: after?.image ?? null,
    rowBefore: before?.row ?? null,
    rowAfter: after?.row ?? null,
  };
}

/** Splits a list so that no statement gets too long. */
export function* chunksOf<T>(
  list: readonly T[],
  sizeOf: (one: T) => number = () => 1,
): Generator<T[]> {
  let chunk: T[] = [];
  let size = 0;
  for (const one of list) {
    const more = sizeOf(one);
    if (chunk.length >= CHUNK || (chunk.length > 0 && size + more > LONGEST)) {
      yield chunk;
      [chunk, size] = [[], 0];
    }
    chunk.push(one);
    size += more;
  }
  if (chunk.length > 0) yield chunk;
}

/** A value for people, as JSON. */
export function shownValue(kind: Column["kind"], value: string | null): string {
  if (value === null) return "null";
  if (kind === "binary") return JSON.stringify(`0x${value}`);
  return kind !== "text" && NUMBER.test(value) ? value : JSON.stringify(value);
}

function rowOf(table: Table, found: readonly (Buffer | null)[]): Row {
  const texts = table.columns.map(({ kind }, at) => {
    const value = found[at] ?? null;
    return value === null ? null : value.toString(kind === "binary" ? "hex" : "utf8");
  });
  const stored = table.columns.flatMap(({ name, isGenerated }, at) =>
    isGenerated ? [] : [[name, texts[at] ?? null] as const],
  );
  const image = JSON.stringify(Object.fromEntries(stored));
  const shown = table.columns.map(
    ({ name, kind }, at) => `${JSON.stringify(name)}:${shownValue(kind, texts[at] ?? null)}`,
  );
  const key = table.key.length === 0 ? null : keyOfImage(table, image);
  return { key, image, row: `{${shown.join(",\n ")}}\n` };
}

function hexOnly(value: string): string {
  if (!/^([0-9a-f]{2})*$/.test(value)) throw new Error("not hexadecimal");
  return value;
}
