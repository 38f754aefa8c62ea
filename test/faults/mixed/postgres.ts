import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { PostgresServer, TestDatabase } from "../../support/postgres-server.ts";
import type { Ground } from "../ground.ts";
import { type DatabaseMember, OLD_ROWS, databaseMember } from "./database.ts";

const MAKE = `
  CREATE TABLE kinds (id int PRIMARY KEY, state text NOT NULL);
  CREATE TABLE parts (
    id int PRIMARY KEY,
    kind int REFERENCES kinds DEFERRABLE INITIALLY DEFERRED
  );
  ${OLD_ROWS}
`;
const OURS = `
  SELECT nspname FROM pg_namespace WHERE nspname ~ 'cofferdam'
  UNION ALL SELECT relname FROM pg_class WHERE relname ~ 'cofferdam'`;

/** A database of PostgreSQL for each ground; one whose ground is gone is dropped. */
export function postgres(server: PostgresServer, port: number): DatabaseMember {
  const template = server.createDatabase();
  server.sql("postgres", `ALTER ROLE ${template.role} CREATEDB`);
  server.sql(template, MAKE);
  return databaseMember({
    id: "PostgreSQL",
    location: "postgres",
    canDefer: true,
    query: `
      SELECT 'kind ' || id || ' ' || state AS line FROM kinds
      UNION ALL SELECT 'part ' || id || ' of ' || kind FROM parts ORDER BY line`,
    impatiently: "SET lock_timeout = '300ms';",
    make: (ground) => {
      dropGone(server, template, dirname(ground.folder));
      const { name, role } = databaseOf(ground, template);
      server.sql("postgres", `CREATE DATABASE "${name}" TEMPLATE ${template.name} OWNER ${role}`);
    },
    connection: (ground) => {
      const { name, role, password } = databaseOf(ground, template);
      const url = `postgres://${role}:${password}@127.0.0.1:${port}/${name}`;
      return `  postgres:\n    url: ${url}\n`;
    },
    sql: (ground, statements) => server.sql(databaseOf(ground, template), statements),
    unsettled: (ground) => preparedIn(server, databaseOf(ground, template).name),
    leftovers: (ground) => server.sql(databaseOf(ground, template), OURS),
  });
}

/** The database of a ground, which is named after it. */
function databaseOf({ folder }: Pick<Ground, "folder">, template: TestDatabase): TestDatabase {
  return { ...template, name: basename(folder) };
}

function preparedIn(server: PostgresServer, name: string): string[] {
  return server.sql(
    "postgres",
    `SELECT 'prepared ' || gid FROM pg_prepared_xacts WHERE database = '${name}'`,
  );
}

function dropGone(server: PostgresServer, { name }: TestDatabase, folder: string): void {
  const names = server.sql(
    "postgres",
    `SELECT datname FROM pg_database
     WHERE NOT datistemplate AND datname NOT IN ('postgres', '${name}')`,
  );
  for (const gone of names.filter((one) => !existsSync(join(folder, one)))) {
    // A violation may have left something that keeps the database.
    for (const prepared of preparedIn(server, gone))
      server.sql(gone, `ROLLBACK PREPARED '${prepared.slice("prepared ".length)}'`);
    server.sql("postgres", `DROP DATABASE "${gone}" WITH (FORCE)`);
  }
}
