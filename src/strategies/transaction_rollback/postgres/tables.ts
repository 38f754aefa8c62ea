import type { RowEffect } from "../log-entry.ts";
import type { Session, TextRow } from "./session.ts";

/** A table as far as its rows are concerned. */
export interface Table {
  readonly oid: string;
  readonly schema: string;
  readonly table: string;
  /** Quoted, with its schema. */
  readonly name: string;
  /** The columns of the primary key, quoted; empty when there is none. */
  readonly key: readonly string[];
  /** All columns as they are called, in the order of a row. */
  readonly names: readonly string[];
  /** All columns that can be given a value, quoted. */
  readonly columns: readonly string[];
  /** Those of them that an UPDATE may set. */
  readonly assignable: readonly string[];
  /** The user's triggers that would fire, with how they are enabled. */
  readonly triggers: readonly { readonly name: string; readonly enabled: string }[];
}

/** What a row is called in queries. A column of that name would be taken for it, so it must be one that nobody has. */
export const ROW = "cofferdam_row";

/** Our own trigger. The name sorts after those of most triggers, so that rows are seen as they end up. */
export const CAPTURE_TRIGGER = "zzz_cofferdam_capture";

const QUERY = `SELECT c.oid, n.nspname AS schema, c.relname, format('%I.%I', n.nspname, c.relname) AS name,
  (SELECT json_agg(quote_ident(a.attname) ORDER BY k.place)::text
     FROM pg_index i, unnest(i.indkey) WITH ORDINALITY k(attnum, place), pg_attribute a
    WHERE i.indrelid = c.oid AND i.indisprimary AND a.attrelid = c.oid AND a.attnum = k.attnum
      AND k.place <= i.indnkeyatts) AS key,
  (SELECT json_agg(a.attname ORDER BY a.attnum)::text FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS names,
  (SELECT json_agg(quote_ident(a.attname) ORDER BY a.attnum)::text FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
  (SELECT json_agg(quote_ident(a.attname) ORDER BY a.attnum)::text FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' AND a.attidentity <> 'a') AS assignable,
  (SELECT json_agg(json_build_object('name', quote_ident(t.tgname), 'enabled', t.tgenabled))::text
     FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgenabled IN ('O', 'A')
      AND t.tgname <> '${CAPTURE_TRIGGER}') AS triggers
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
`;

/** Looks a table up; null when there is none. */
export async function findTable(
  session: Session,
  { schema, table }: Pick<RowEffect, "schema" | "table">,
): Promise<Table | null> {
  const where = "WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p')";
  return tableIn(await session.run(`${QUERY} ${where}`, [schema, table]));
}

/** Looks a table up by its oid; null when there is none. */
export async function tableOf(session: Session, oid: string): Promise<Table | null> {
  return tableIn(await session.run(`${QUERY} WHERE c.oid = $1`, [oid]));
}

function tableIn([row]: readonly TextRow[]): Table | null {
  if (row === undefined) return null;
  return {
    oid: row["oid"] ?? "",
    schema: row["schema"] ?? "",
    table: row["relname"] ?? "",
    name: row["name"] ?? "",
    key: listOf<string>(row["key"]),
    names: listOf<string>(row["names"]),
    columns: listOf<string>(row["columns"]),
    assignable: listOf<string>(row["assignable"]),
    triggers: listOf<Table["triggers"][number]>(row["triggers"]),
  };
}

/** How many rows of each table this transaction has touched so far, by table; what was rolled back included. */
export interface Touched {
  readonly schema: string;
  readonly table: string;
  readonly oid: string;
  /** Made by a query of its own, which is run again instead of changing rows. */
  readonly isMaterialized: boolean;
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
}

/** As `pg_stat_xact_all_tables` has it, without what that view adds up besides. */
const TOUCHED = `SELECT n.nspname AS schemaname, c.relname, c.relkind, c.oid AS relid, x.n_tup_ins, x.n_tup_upd, x.n_tup_del
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace CROSS JOIN LATERAL (SELECT
    pg_stat_get_xact_tuples_inserted(c.oid) AS n_tup_ins, pg_stat_get_xact_tuples_updated(c.oid) AS n_tup_upd,
    pg_stat_get_xact_tuples_deleted(c.oid) AS n_tup_del) x
 WHERE c.relkind IN ('r', 't', 'm', 'p') AND x.n_tup_ins + x.n_tup_upd + x.n_tup_del > 0
   AND n.nspname !~ '^pg_(toast|temp)'`;

/** The tables that this transaction has touched, by oid; cascades and triggers count. */
export async function touchedTables(session: Session): Promise<ReadonlyMap<string, Touched>> {
  const rows = await session.run(TOUCHED);
  return new Map(
    rows.map((row) => {
      const touched = {
        schema: row["schemaname"] ?? "",
        table: row["relname"] ?? "",
        oid: row["relid"] ?? "",
        isMaterialized: row["relkind"] === "m",
        inserted: Number(row["n_tup_ins"]),
        updated: Number(row["n_tup_upd"]),
        deleted: Number(row["n_tup_del"]),
      };
      return [touched.oid, touched];
    }),
  );
}

/** What was touched between two looks. */
export function touchedSince(
  before: ReadonlyMap<string, Touched>,
  after: ReadonlyMap<string, Touched>,
): readonly Touched[] {
  return [...after.values()].flatMap((now) => {
    const then = before.get(now.oid);
    const inserted = now.inserted - (then?.inserted ?? 0);
    const updated = now.updated - (then?.updated ?? 0);
    const deleted = now.deleted - (then?.deleted ?? 0);
    return inserted + updated + deleted === 0 ? [] : [{ ...now, inserted, updated, deleted }];
  });
}

function listOf<T>(json: string | null | undefined): readonly T[] {
  return json === null || json === undefined ? [] : (JSON.parse(json) as T[]);
}
