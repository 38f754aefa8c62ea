import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseServer } from "../support/database-server.ts";
import { journalsBeside, sqlite3 } from "../support/sqlite3.ts";
import type { Member, Yard } from "./member.ts";

const OLD = "INSERT INTO kinds VALUES (1, 'old')";
const LOOK = "SELECT * FROM kinds ORDER BY id; SELECT * FROM parts ORDER BY id";
const VALUE = "SELECT state FROM kinds WHERE id = 1";
const THEIRS = "UPDATE kinds SET state = 'theirs' WHERE id = 1";

/** How a kind of database is made and asked. */
interface DatabaseKind {
  readonly id: string;
  readonly setup: string;
  readonly url: string;
  /** Whether its own commit is the decision, because it cannot prepare. */
  readonly isLastResource?: boolean;
  readonly sql: (statements: string) => string[];
  /** What stands half way, as others see it. */
  readonly unsettled: () => string[];
}

function database({ id, setup, url, isLastResource, sql, unsettled }: DatabaseKind): Member {
  sql(`${setup}; ${OLD}`);
  return {
    id,
    type: "database",
    location: id,
    connection: `  ${id}:\n    url: ${url}\n`,
    isLastResource: isLastResource === true,
    edit: (sandbox, value) =>
      sandbox.write(
        value,
        `UPDATE kinds SET state = '${value}' WHERE id = 1;
         INSERT INTO parts VALUES (${value.length}, 1)`,
      ),
    look: () => [...unsettled(), ...sql(LOOK)].join("\n"),
    value: () => sql(VALUE)[0] ?? "",
    disturb: () => {
      sql(THEIRS);
    },
  };
}

function onServer(id: string, server: DatabaseServer, setup: string): Member {
  const made = server.createDatabase();
  const sql = (statements: string): string[] => server.sql(made, statements);
  return database({ id, setup, url: made.url, sql, unsettled: () => server.prepared() });
}

/** A database of PostgreSQL. */
export function postgres({ servers }: Yard): Member {
  const setup = `
    CREATE TABLE kinds (id int PRIMARY KEY, state text NOT NULL);
    CREATE TABLE parts (id int PRIMARY KEY, kind int REFERENCES kinds DEFERRABLE INITIALLY DEFERRED)`;
  return onServer("postgres", servers.postgres, setup);
}

/** A database of MariaDB. */
export function mariadb({ servers }: Yard): Member {
  const setup = `
    CREATE TABLE kinds (id int PRIMARY KEY, state text NOT NULL);
    CREATE TABLE parts (id int PRIMARY KEY, kind int, FOREIGN KEY (kind) REFERENCES kinds (id))`;
  return onServer("mariadb", servers.mariadb, setup);
}

/** A file of SQLite. */
export function sqlite({ folder }: Yard): Member {
  mkdirSync(join(folder, "sqlite"));
  const file = join(folder, "sqlite/rows.db");
  const setup = `
    CREATE TABLE kinds (id INTEGER PRIMARY KEY, state TEXT NOT NULL);
    CREATE TABLE parts (id INTEGER PRIMARY KEY, kind INTEGER REFERENCES kinds DEFERRABLE INITIALLY DEFERRED)`;
  return database({
    id: "sqlite",
    setup,
    url: `sqlite:${file}`,
    isLastResource: true,
    sql: (statements) => sqlite3(file, statements),
    unsettled: () => journalsBeside(file),
  });
}
