import { DriftError } from "../engine.ts";
import type { DroppedTable } from "../log-entry.ts";
import { tablePath } from "../row-changes.ts";
import { changedTable } from "../sql/checked-rows.ts";
import { withImageSettings } from "./image-settings.ts";
import type { Session } from "./session.ts";
import { ROW, type Table, findTable, tableOf } from "./tables.ts";

/** Our own are temporary. */
const TABLES = `SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')`;
/** Of the digest of a row, as many bits as a sum of them has room for. */
const ROW_NUMBER = `('x' || substr(md5(${ROW}::text), 1, 15))::bit(60)::bigint`;

/** The tables that hold rows, by their oids. */
export async function tablesWithRows(session: Session): Promise<ReadonlySet<string>> {
  return new Set((await session.run(TABLES)).map(({ oid }) => oid ?? ""));
}

/** What is remembered of tables that a statement is about to drop. */
export function rememberTables(
  session: Session,
  oids: Iterable<string>,
): Promise<readonly DroppedTable[]> {
  return withImageSettings(session, async () => {
    const dropped: DroppedTable[] = [];
    for (const oid of oids) {
      const table = await tableOf(session, oid);
      if (table === null) continue;
      const digest = await tableDigest(session, table);
      dropped.push({ schema: table.schema, table: table.table, digest, isMadeAgain: false });
    }
    return dropped;
  });
}

/**
 * Checks that tables which are about to be dropped once more are as they were, and keeps them so.
 * @throws DriftError for those in which somebody else's work would be lost.
 */
export async function requireRemembered(
  session: Session,
  dropped: readonly DroppedTable[],
): Promise<void> {
  if (dropped.length === 0) return;
  const changed = await withImageSettings(session, async () => {
    const other: string[] = [];
    for (const { schema = "", table, digest } of dropped) {
      const path = tablePath({ schema, table });
      const found = await findTable(session, { schema, table });
      if (found !== null) await session.run(`LOCK TABLE ${found.name} IN ACCESS EXCLUSIVE MODE`);
      const isSame = found !== null && (await tableDigest(session, found)) === digest;
      if (!isSame) other.push(path);
    }
    return other;
  });
  if (changed.length === 0) return;
  const told = "A table was changed by somebody else, and would be dropped";
  throw new DriftError(told, changed.map(changedTable));
}

/** What tells whether a table is still the same: its columns, and all rows in any order. */
async function tableDigest(session: Session, { name, names }: Table): Promise<string> {
  const [found] = await session.run(
    `SELECT count(*)::text AS rows, coalesce(sum(${ROW_NUMBER}), 0)::text AS sum FROM ONLY ${name} ${ROW}`,
  );
  return JSON.stringify([names, found?.["rows"] ?? "", found?.["sum"] ?? ""]);
}
