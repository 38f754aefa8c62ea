import type { RowEffect } from "../log-entry.ts";
import type { EffectRun, PresentRow, RowStore } from "../sql/row-store.ts";
import { type Session, sqlStateOf } from "./session.ts";
import { ROW, type Table, findTable } from "./tables.ts";

/** Unique and foreign keys: what one row violates, the next one may put right. */
const PASSING = new Set(["23505", "23503"]);

/** Whether the next rows may still put it right. */
export function isPassing(thrown: unknown): boolean {
  return PASSING.has(sqlStateOf(thrown) ?? "");
}

/** The rows of an open transaction. */
export function rowsOf(session: Session): RowStore<Table> {
  return {
    find: (effect) => findTable(session, effect),
    lockEqual: (table, images) => lockEqual(session, table, images),
    lockCopies: (table, images) => lockCopies(session, table, images),
    presentRows: (table, images) => presentRows(session, table, images),
    tryRun: (run) => tryRun(session, run),
  };
}

async function tryRun(session: Session, run: EffectRun<Table>): Promise<unknown> {
  await session.run("SAVEPOINT cofferdam_run");
  try {
    await applyOne(session, run);
  } catch (thrown) {
    if (!isPassing(thrown)) throw thrown;
    await session.run("ROLLBACK TO SAVEPOINT cofferdam_run");
    return thrown;
  }
  await session.run("RELEASE SAVEPOINT cofferdam_run");
  return null;
}

/** Applies one run. */
export async function applyOne(session: Session, run: EffectRun<Table>): Promise<void> {
  const { table, kind, effects } = run;
  if (table.key.length > 0 || kind === "insert") await applyRun(session, run);
  else for (const effect of effects) await applyToEqualRow(session, table, effect);
}

/** The rows of images, one record a row: `e` has the image and its number, `r` its columns. */
function imagesOf({ name }: Table, parameter: string): string {
  return `unnest(${parameter}::text[]) WITH ORDINALITY e(image, n) CROSS JOIN LATERAL (SELECT (e.image::${name}).*) r`;
}

function sameKey({ key }: Table, left: string, right: string): string {
  return key.map((column) => `${left}.${column} = ${right}.${column}`).join(" AND ");
}

function keyText({ key }: Table, row: string): string {
  return `ROW(${key.map((column) => `${row}.${column}`).join(", ")})::text`;
}

/** Applies effects whose rows all have a key, in one statement. Rows that are not as they were are left alone. */
async function applyRun(session: Session, run: EffectRun<Table>): Promise<void> {
  const { table, kind, effects } = run;
  const before = effects.map((effect) => effect.before);
  const after = effects.map((effect) => effect.after);
  const list = table.columns.join(", ");
  if (kind === "insert") {
    const values = table.columns.map((column) => `r.${column}`).join(", ");
    await session.run(
      `INSERT INTO ${table.name} (${list}) OVERRIDING SYSTEM VALUE SELECT ${values} FROM ${imagesOf(table, "$1")} ORDER BY e.n`,
      [after],
    );
    return;
  }
  if (kind === "delete") {
    await session.run(
      `DELETE FROM ONLY ${table.name} ${ROW} USING ${imagesOf(table, "$1")} WHERE ${sameKey(table, ROW, "r")} AND ${ROW}::text = e.image`,
      [before],
    );
    return;
  }
  await session.run(
    `UPDATE ONLY ${table.name} ${ROW} SET ${assignments(table, "x")} FROM ${imagesOf(table, "$1")},
       unnest($2::text[]) WITH ORDINALITY f(image, n) CROSS JOIN LATERAL (SELECT (f.image::${table.name}).*) x
      WHERE e.n = f.n AND ${sameKey(table, ROW, "r")} AND ${ROW}::text = e.image`,
    [before, after],
  );
}

/** Applies one effect on a row that has no key: any one row of the same content will do. */
async function applyToEqualRow(session: Session, table: Table, effect: RowEffect): Promise<void> {
  const one = `${ROW}.ctid = (SELECT cofferdam_same.ctid FROM ONLY ${table.name} cofferdam_same WHERE cofferdam_same::text = $1 LIMIT 1 FOR UPDATE)`;
  if (effect.after === null) {
    await session.run(`DELETE FROM ONLY ${table.name} ${ROW} WHERE ${one}`, [effect.before]);
    return;
  }
  await session.run(
    `UPDATE ONLY ${table.name} ${ROW} SET ${assignments(table, "x")} FROM (SELECT ($2::text::${table.name}).*) x WHERE ${one}`,
    [effect.before, effect.after],
  );
}

/** Locks the rows of images and gives the numbers, from 0, of those that are exactly so. */
async function lockEqual(
  session: Session,
  table: Table,
  images: readonly string[],
): Promise<ReadonlySet<number>> {
  const rows = await session.run(
    `SELECT e.n FROM ${imagesOf(table, "$1")} JOIN ONLY ${table.name} ${ROW} ON ${sameKey(table, ROW, "r")}
      WHERE ${ROW}::text = e.image FOR UPDATE OF ${ROW}`,
    [images],
  );
  return new Set(rows.map(({ n }) => Number(n) - 1));
}

async function lockCopies(
  session: Session,
  { name }: Table,
  images: readonly string[],
): Promise<readonly string[]> {
  const equal = `${ROW}::text = ANY ($1::text[])`;
  const rows = await session.run(
    `SELECT ${ROW}::text AS image FROM ONLY ${name} ${ROW} WHERE ${equal} FOR UPDATE`,
    [images],
  );
  return rows.map(({ image }) => image ?? "");
}

/**
 * The present rows with the keys of images, by number from 0: the exact image and the row for people. Keys that the server
 * takes for equal may be written in several ways, which are different rows in a log.
 */
async function presentRows(
  session: Session,
  table: Table,
  images: readonly string[],
): Promise<ReadonlyMap<number, PresentRow>> {
  const rows = await session.run(
    `SELECT e.n, ${ROW}::text AS image, row_to_json(${ROW}, true)::text AS row
       FROM ${imagesOf(table, "$1")} JOIN ONLY ${table.name} ${ROW} ON ${sameKey(table, ROW, "r")}
        AND ${keyText(table, ROW)} = ${keyText(table, "r")}`,
    [images],
  );
  return new Map(
    rows.map(({ n, image, row }) => [Number(n) - 1, { image: image ?? "", row: `${row ?? ""}\n` }]),
  );
}

function assignments({ assignable }: Table, source: string): string {
  return assignable.map((column) => `${column} = ${source}.${column}`).join(", ");
}
