import { addToList } from "../../../model/add-to-list.ts";
import type { RowEffect } from "../log-entry.ts";
import { notCaptured } from "../sql/not-captured.ts";
import type { Session, TextRow } from "./session.ts";
import { ROW, type Table, tableOf } from "./tables.ts";

/** Rows that are looked at together; only those groups travel in which something differs. */
const TOGETHER = 32;
const MOST_GROUPS = 2 ** 20;

const TABLES = `SELECT c.oid, c.relkind, format('%I.%I', n.nspname, c.relname) AS name
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't' AND n.nspname !~ '^(pg_|information_schema$)'
   AND (c.relkind = 'r' OR c.relispopulated) ORDER BY 3`;
const LARGE_OBJECTS = `SELECT count(*) || ' ' || coalesce(sum(hashtextextended(oid || ' ' || md5(lo_get(oid)), 0)), 0) AS digest
  FROM pg_largeobject_metadata WHERE pg_has_role(lomowner, 'USAGE')`;

/**
 * The effects that make every table of one database what it is in a clone of it, in no order. Both servers add the rows
 * up by themselves; only groups of rows whose sums differ are fetched. Images are written with the settings of the sessions.
 * @throws DatabaseError (`DATABASE`, reason `notCaptured`).
 */
export async function rowDifferences(
  earlier: Session,
  later: Session,
): Promise<readonly RowEffect[]> {
  const sessions = [earlier, later] as const;
  if (!(await isSame(sessions, LARGE_OBJECTS)))
    throw notCaptured("it changed large objects, which a sandbox does not hold");
  const effects: RowEffect[] = [];
  for (const { oid, relkind, name } of await earlier.run(TABLES)) {
    const whole = `SELECT count(*) || ' ' || ${sumOf(`${ROW}::text`)} AS digest FROM ONLY ${name ?? ""} ${ROW}`;
    if (await isSame(sessions, whole)) continue;
    if (relkind === "m") throw notCaptured(`it refreshed the materialized view ${name ?? ""}`);
    const table = await tableOf(earlier, oid ?? "");
    if (table !== null) effects.push(...(await differencesIn(sessions, table)));
  }
  return effects;
}

type Both = readonly [Session, Session];

async function isSame([earlier, later]: Both, query: string): Promise<boolean> {
  const [[first], [second]] = await Promise.all([earlier.run(query), later.run(query)]);
  return first?.["digest"] === second?.["digest"];
}

/** Two sums, so that chance does not make different rows the same. */
function sumOf(text: string): string {
  const sums = [0, 1].map((seed) => `coalesce(sum(hashtextextended(${text}, ${seed})), 0)`);
  return sums.join(" || ' ' || ");
}

async function differencesIn([earlier, later]: Both, table: Table): Promise<readonly RowEffect[]> {
  const [[first], [second]] = await Promise.all(
    [earlier, later].map((session) =>
      session.run(`SELECT count(*) AS count FROM ONLY ${table.name}`),
    ) as [Promise<readonly TextRow[]>, Promise<readonly TextRow[]>],
  );
  const rows = Math.max(Number(first?.["count"]), Number(second?.["count"]));
  const groups = 2 ** Math.ceil(Math.log2(Math.max(1, Math.min(rows / TOGETHER, MOST_GROUPS))));
  const grouped = `SELECT ${groupOf(table, groups)} AS group, count(*) || ' ' || ${sumOf(`${ROW}::text`)} AS digest FROM ONLY ${table.name} ${ROW} GROUP BY 1`;
  const [before, after] = await Promise.all([sums(earlier, grouped), sums(later, grouped)]);
  const all = new Set([...before.keys(), ...after.keys()]);
  const changed = [...all].filter((group) => before.get(group) !== after.get(group));
  const [old, now] = await Promise.all([
    rowsIn(earlier, table, groups, changed),
    rowsIn(later, table, groups, changed),
  ]);
  return table.key.length > 0 ? byKey(table, old, now) : byContent(table, old, now);
}

async function sums(session: Session, query: string): Promise<ReadonlyMap<string, string>> {
  const rows = await session.run(query);
  return new Map(rows.map(({ group, digest }) => [group ?? "", digest ?? ""]));
}

function groupOf({ key }: Table, groups: number): string {
  const text =
    key.length > 0
      ? `ROW(${key.map((column) => `${ROW}.${column}`).join(", ")})::text`
      : `${ROW}::text`;
  return `(hashtextextended(${text}, 0) & ${groups - 1})`;
}

/** A row of one of the two databases. */
interface FoundRow {
  readonly key: string | null;
  readonly image: string;
  readonly row: string;
  /** What no UPDATE can change. */
  readonly fixed: string;
}

async function rowsIn(
  session: Session,
  table: Table,
  groups: number,
  wanted: readonly string[],
): Promise<readonly FoundRow[]> {
  const fixed = table.columns.filter((column) => !table.assignable.includes(column));
  const rows = await session.run(
    `SELECT (SELECT json_agg(to_jsonb(${ROW}) ->> (parse_ident(c))[1] ORDER BY p)::text
               FROM unnest($2::text[]) WITH ORDINALITY u(c, p)) AS key,
        ${ROW}::text AS image, row_to_json(${ROW}, true)::text AS row, ROW(${fixed.map((column) => `${ROW}.${column}`).join(", ")})::text AS fixed
       FROM ONLY ${table.name} ${ROW} WHERE ${groupOf(table, groups)} = ANY ($1::bigint[])`,
    [wanted, table.key],
  );
  return rows.map((found) => ({
    key: found["key"] ?? null,
    image: found["image"] ?? "",
    row: `${found["row"] ?? ""}\n`,
    fixed: found["fixed"] ?? "",
  }));
}

/** Rows that are told apart by their key. */
function byKey(
  table: Table,
  old: readonly FoundRow[],
  now: readonly FoundRow[],
): readonly RowEffect[] {
  const before = new Map(old.map((row) => [row.key, row]));
  const after = new Map(now.map((row) => [row.key, row]));
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [from, to] = [before.get(key) ?? null, after.get(key) ?? null];
    if (from?.image === to?.image) return [];
    const isReplaced = from !== null && to !== null && from.fixed !== to.fixed;
    if (isReplaced) return [effectOf(table, from, null), effectOf(table, null, to)];
    return [effectOf(table, from, to)];
  });
}

/** Rows without a key are a bag: equal ones cancel each other out. */
function byContent(
  table: Table,
  old: readonly FoundRow[],
  now: readonly FoundRow[],
): readonly RowEffect[] {
  const left = new Map<string, FoundRow[]>();
  for (const row of old) addToList(left, row.image, row);
  const added = now.filter(({ image }) => left.get(image)?.pop() === undefined);
  const gone = [...left.values()].flat();
  return [
    ...gone.map((row) => effectOf(table, row, null)),
    ...added.map((row) => effectOf(table, null, row)),
  ];
}

function effectOf(
  { schema, table }: Table,
  before: FoundRow | null,
  after: FoundRow | null,
): RowEffect {
  const keyOf = (row: FoundRow | null): readonly string[] | null =>
    row === null || row.key === null ? null : (JSON.parse(row.key) as string[]);
  return {
    schema,
    table,
    keyBefore: keyOf(before),
    keyAfter: keyOf(after),
    before: before?.image ?? null,
    after: after?.image ?? null,
    rowBefore: before?.row ?? null,
    rowAfter: after?.row ?? null,
  };
}
