import { DatabaseSync } from "@photostructure/sqlite";

/** Makes a database with one job in it. */
export function makeDatabase(path: string): void {
  const database = new DatabaseSync(path);
  database.exec("CREATE TABLE jobs(id INTEGER PRIMARY KEY, name TEXT)");
  database.exec("INSERT INTO jobs VALUES (1, 'one')");
  database.close();
}

/** The jobs of a database as `1|one`. */
export function jobsIn(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare("SELECT id || '|' || name AS job FROM jobs ORDER BY id").all();
  database.close();
  return rows.map(({ job }) => String(job));
}
