import { notCaptured } from "../sql/not-captured.ts";
import type { Session } from "./session.ts";

/** Catalogs that say nothing about the schema: statistics, and the contents of large objects. */
const NO_SCHEMA = ["pg_statistic", "pg_statistic_ext_data", "pg_largeobject"];
/** What the server itself keeps up to date in the list of tables, as when rows are inserted or removed. */
const KEPT_BY_SERVER = [
  ...["relpages", "reltuples", "relallvisible", "relallfrozen", "relfilenode", "relfrozenxid"],
  ...["relminmxid", "relhasindex", "relhasrules", "relhastriggers", "relhassubclass"],
];
const CATALOGS = `SELECT c.relname AS name FROM pg_class c
 WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind = 'r' AND NOT c.relisshared
   AND c.relname <> ALL ($1::text[]) AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1`;
/** Sessions make schemas for their temporary tables, which stay. */
const TEMPORARY = "nspname ~ '^pg_(toast_)?temp_'";
const HINT =
  "Write statements that change the schema with `coffer sql`, then run the command again: it finds them done.";

/**
 * A clone has the very catalogs of its source, object numbers included: where a row of one differs, the schema was
 * changed.
 * @throws DatabaseError (`DATABASE`, reason `notCaptured`).
 */
export async function requireSameCatalogs(earlier: Session, later: Session): Promise<void> {
  const rows = await earlier.run(CATALOGS, [NO_SCHEMA]);
  const query = rows.map(({ name }) => digestOf(name ?? "")).join(" UNION ALL ");
  const [first, second] = await Promise.all([digests(earlier, query), digests(later, query)]);
  const changed = [...first].flatMap(([name, digest]) =>
    second.get(name) === digest ? [] : [name],
  );
  if (changed.length > 0)
    throw notCaptured(`it changed the schema (${changed.slice(0, 4).join(", ")})`, undefined, HINT);
}

async function digests(session: Session, query: string): Promise<ReadonlyMap<string, string>> {
  const rows = await session.run(query);
  return new Map(rows.map(({ name, digest }) => [name ?? "", digest ?? ""]));
}

function digestOf(catalog: string): string {
  const removed = KEPT_BY_SERVER.map((column) => `'${column}'`).join(", ");
  const row = catalog === "pg_class" ? `(to_jsonb(t) - ARRAY[${removed}])` : "t";
  const hidden = catalog === "pg_namespace" ? `WHERE NOT (${TEMPORARY})` : "";
  return `SELECT '${catalog}' AS name, count(*) || ' ' || coalesce(sum(hashtextextended(${row}::text, 0)), 0) AS digest FROM pg_catalog.${catalog} t ${hidden}`;
}
