import { Capture } from "./capture.ts";
import { qualifySchema } from "./qualify-schema.ts";
import type { Session } from "./session.ts";
import { type Table, findTable, quoted } from "./tables.ts";

/**
 * Runs work while the triggers of the user are away, and everything that it does to rows of tables can be seen. Where it
 * throws, the triggers stay away: whoever catches that goes back to a savepoint.
 */
export function watching<T>(
  session: Session,
  schema: string,
  tables: ReadonlyMap<string, Table>,
  work: (capture: Capture) => T,
): T {
  const triggers = triggersOf(session, schema, tables);
  for (const { name } of triggers) session.exec(`DROP TRIGGER ${quoted(schema)}.${quoted(name)}`);
  const capture = new Capture(session);
  capture.install([...tables.values(), ...neighbours(session, schema, tables)]);
  const result = workAndEnd(capture, work);
  for (const { sql } of triggers) session.exec(sql);
  return result;
}

function workAndEnd<T>(capture: Capture, work: (capture: Capture) => T): T {
  try {
    return work(capture);
  } finally {
    capture.uninstall();
  }
}

/** Tables that a cascade may reach although the log has no row of theirs. */
export function neighbours(
  session: Session,
  schema: string,
  tables: ReadonlyMap<string, unknown>,
): readonly Table[] {
  const rows = session.all(
    `SELECT DISTINCT l.name, lower(k."table") AS parent FROM pragma_table_list l, pragma_foreign_key_list(l.name, ?) k
      WHERE l.schema = ? AND l.type = 'table' AND (k.on_delete NOT IN ('NO ACTION', 'RESTRICT') OR k.on_update NOT IN ('NO ACTION', 'RESTRICT'))`,
    schema,
    schema,
  );
  const reached = new Set([...tables.keys()].map((name) => name.toLowerCase()));
  const own = new Set(reached);
  const found = new Set<string>();
  for (let size = -1; size !== reached.size;) {
    size = reached.size;
    for (const { name, parent } of rows) {
      const lower = String(name).toLowerCase();
      if (!reached.has(String(parent)) || own.has(lower)) continue;
      reached.add(lower);
      found.add(String(name));
    }
  }
  return [...found].flatMap((name) => findTable(session, schema, name) ?? []);
}

/** The triggers of tables, in the order in which they were made. */
function triggersOf(
  session: Session,
  schema: string,
  tables: ReadonlyMap<string, Table>,
): readonly { readonly name: string; readonly sql: string }[] {
  const names = new Set([...tables.keys()].map((name) => name.toLowerCase()));
  const rows = session.all(
    `SELECT name, lower(tbl_name) AS place, sql FROM ${quoted(schema)}.sqlite_schema WHERE type = 'trigger' ORDER BY rowid`,
  );
  return rows
    .filter(({ place }) => names.has(String(place)))
    .map(({ name, sql }) => ({ name: String(name), sql: qualifySchema(String(sql), schema) }));
}
