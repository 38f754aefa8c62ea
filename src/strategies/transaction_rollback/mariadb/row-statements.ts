import { addToList } from "../../../model/add-to-list.ts";
import { DriftError } from "../engine.ts";
import type { RowEffect } from "../log-entry.ts";
import { conflictOf } from "../sql/checked-rows.ts";
import type { EffectRun, PresentRow, RowStore } from "../sql/row-store.ts";
import {
  type Values,
  chunksOf,
  isOneOf,
  keyOfImage,
  readKeys,
  readRows,
  secondsOf,
  valueOf,
  valuesOf,
} from "./rows.ts";
import { type Session, errorNumberOf, quoted } from "./session.ts";
import { type Column, type Table, findTable } from "./tables.ts";

/** Unique and foreign keys: what one row violates, the next one may put right. */
const PASSING = new Set([1062, 1451, 1452]);

/** What the server computes from a moment may depend on the time zone; it does so for users in its own. */
const IN_ZONE_OF_USERS = "SET STATEMENT time_zone = @@global.time_zone FOR ";

/** Whether the next rows may put right what was thrown. */
export function isPassing(thrown: unknown): boolean {
  return PASSING.has(errorNumberOf(thrown) ?? 0);
}

/** The rows of an open transaction of a session in its own mode. */
export function rowsOf(session: Session): RowStore<Table> {
  return {
    find: (effect) => findTable(session, effect),
    lockEqual: async (table, images) => {
      const present = await presentRows(session, table, images);
      return new Set([...present].flatMap(([at, { image }]) => (image === images[at] ? [at] : [])));
    },
    lockCopies: (table, images) => lockCopies(session, table, images),
    presentRows: (table, images) => presentRows(session, table, images),
    tryRun: (run) => tryRun(session, run),
  };
}

async function lockCopies(
  session: Session,
  table: Table,
  images: readonly string[],
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const chunk of chunksOf(images, ({ length }) => 2 * length)) {
    const each = chunk.map((image) => `(${isRow(table, valuesOf(image))})`);
    const rows = await readRows(session, table, `WHERE ${each.join(" OR ")}`);
    found.push(...rows.map(({ image }) => image));
  }
  return found;
}

async function presentRows(
  session: Session,
  table: Table,
  images: readonly string[],
): Promise<ReadonlyMap<number, PresentRow>> {
  const numbers = new Map(
    images.map((image, at) => [JSON.stringify(keyOfImage(table, image)), at]),
  );
  const keys = images.map((image) => keyOfImage(table, image));
  const found = new Map<number, PresentRow>();
  for (const row of await readKeys(session, table, keys)) {
    const at = numbers.get(JSON.stringify(row.key));
    if (at !== undefined) found.set(at, row);
  }
  return found;
}

/** The server takes a failed statement back by itself, but several make up a run. */
async function tryRun(session: Session, run: EffectRun<Table>): Promise<unknown> {
  await session.execute("SAVEPOINT cofferdam_run");
  try {
    const isComputed = run.table.columns.some(({ isGenerated }) => isGenerated);
    if (isComputed) await requireTellable(session, run);
    const where = isComputed ? IN_ZONE_OF_USERS : "";
    for (const statement of statementsOf(run)) await session.execute(`${where}${statement}`);
    return null;
  } catch (thrown) {
    if (!isPassing(thrown)) throw thrown;
    await session.execute("ROLLBACK TO SAVEPOINT cofferdam_run");
    return thrown;
  }
}

/**
 * Where clocks are put back, two moments have the same time: no statement could say which of them is meant.
 * @throws DriftError for a row with such a moment.
 */
async function requireTellable(
  session: Session,
  { table, effects }: EffectRun<Table>,
): Promise<void> {
  const zoned = table.columns.filter(({ isZoned }) => isZoned);
  const moments = effects.flatMap((effect) => {
    const images = [effect.before, effect.after].map((image) => valuesOf(image ?? "{}"));
    const values = images.flatMap((image) => zoned.map(({ name }) => image[name] ?? null));
    const known = values.flatMap((value) => (value === null ? [] : (secondsOf(value) ?? [])));
    return [...new Set(known)].map((seconds) => ({ effect, seconds }));
  });
  for (const chunk of chunksOf(moments)) {
    const each = chunk.map(
      ({ seconds }) => `UNIX_TIMESTAMP(FROM_UNIXTIME(${seconds})) = ${seconds}`,
    );
    const { rows } = await session.query(`${IN_ZONE_OF_USERS}SELECT ${each.join(", ")}`);
    const found = chunk.filter((_, at) => rows[0]?.[at]?.toString() === "0");
    if (found.length === 0) continue;
    throw new DriftError(
      "a moment in the hour that the clocks of the server pass twice cannot be told from the other one in a table with computed columns",
      found.map(({ effect }) => conflictOf(effect, "changed", effect.rowBefore)),
    );
  }
}

function statementsOf({ table, kind, effects }: EffectRun<Table>): Iterable<string> {
  if (kind === "insert") return insertions(table, effects);
  if (table.key.length === 0) return effects.map((effect) => onEqualRow(table, effect));
  return kind === "delete" ? deletions(table, effects) : updates(table, effects);
}

function* insertions(table: Table, effects: readonly RowEffect[]): Generator<string> {
  const columns = table.columns.filter(({ isGenerated }) => !isGenerated);
  const names = columns.map(({ name }) => quoted(name)).join(", ");
  for (const chunk of chunksOf(effects, ({ after }) => after?.length ?? 0)) {
    const rows = chunk.map(({ after }) => {
      const values = valuesOf(after ?? "{}");
      return `(${columns.map((column) => valueOf(column, values[column.name] ?? null)).join(", ")})`;
    });
    yield `INSERT INTO ${table.name} (${names}) VALUES ${rows.join(", ")}`;
  }
}

function* deletions(table: Table, effects: readonly RowEffect[]): Generator<string> {
  for (const chunk of chunksOf(effects)) {
    const keys = chunk.map(({ before }) => keyOfImage(table, before ?? "{}"));
    yield `DELETE FROM ${table.name} WHERE ${isOneOf(table, table.key, keys)}`;
  }
}

/** Rows that get the same values are updated together. */
function* updates(table: Table, effects: readonly RowEffect[]): Generator<string> {
  const together = new Map<string, (readonly string[])[]>();
  for (const { before, after } of effects) {
    const set = assignments(table, valuesOf(before ?? "{}"), valuesOf(after ?? "{}"));
    addToList(together, set, keyOfImage(table, before ?? "{}"));
  }
  for (const [set, keys] of together)
    for (const chunk of chunksOf(keys))
      yield `UPDATE ${table.name} SET ${set} WHERE ${isOneOf(table, table.key, chunk)}`;
}

/** A row that has no key: any one row of the same content will do. */
function onEqualRow(table: Table, { before, after }: RowEffect): string {
  const was = valuesOf(before ?? "{}");
  const where = isRow(table, was);
  if (after === null) return `DELETE FROM ${table.name} WHERE ${where} LIMIT 1`;
  return `UPDATE ${table.name} SET ${assignments(table, was, valuesOf(after))} WHERE ${where} LIMIT 1`;
}

function isRow(table: Table, values: Values): string {
  return table.columns
    .filter(({ isGenerated }) => !isGenerated)
    .map((column) => isExactly(table, column, values[column.name] ?? null))
    .join(" AND ");
}

/** Texts that a collation takes for equal are not. */
function isExactly({ name }: Table, column: Column, value: string | null): string {
  const expression = column.expression(name);
  const written = valueOf(column, value);
  if (column.kind !== "text" || column.isZoned || value === null)
    return `${expression} <=> ${written}`;
  return `CAST(CONVERT(${expression} USING utf8mb4) AS BINARY) <=> X'${Buffer.from(value, "utf8").toString("hex")}'`;
}

/** What changed, and what would change by itself if nobody said how. */
function assignments({ columns }: Table, before: Values, after: Values): string {
  return columns
    .filter(({ name, isGenerated, isMoving }) => {
      return !isGenerated && (isMoving || before[name] !== after[name]);
    })
    .map((column) => `${quoted(column.name)} = ${valueOf(column, after[column.name] ?? null)}`)
    .join(", ");
}
