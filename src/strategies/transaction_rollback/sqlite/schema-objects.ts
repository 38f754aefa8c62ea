import type { LoggedStatement } from "../log-entry.ts";
import type { Session } from "./session.ts";
import { DECISIONS, quoted } from "./tables.ts";

/** A table, index, view or trigger, with the text that made it. */
export interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/** What a user made of the schema of a database, by type and name, in the order in which it was made. */
export function objectsOf(session: Session, schema: string): ReadonlyMap<string, SchemaObject> {
  const rows = session.all(
    `SELECT type, name, sql FROM ${quoted(schema)}.sqlite_schema
      WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> '${DECISIONS}' ORDER BY rowid`,
  );
  return new Map(
    rows.map((row) => {
      const [type, name, sql] = [String(row["type"]), String(row["name"]), String(row["sql"])];
      return [`${type} ${name}`, { type, name, sql }];
    }),
  );
}

/** Changes the schema of the main database by a statement, as it stands in a log afterwards. */
export function changed(session: Session, text: string): LoggedStatement {
  session.exec(text);
  return { text, kind: "schema", effects: [] };
}

/** The statement that drops something. */
export function dropText({ type, name }: SchemaObject): string {
  return `DROP ${type.toUpperCase()} IF EXISTS ${quoted(name)}`;
}
