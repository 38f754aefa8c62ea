import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { TestDatabase } from "../../support/database-server.ts";
import type { MariadbServer } from "../../support/mariadb-server.ts";
import type { Ground } from "../ground.ts";
import { type DatabaseMember, OLD_ROWS, databaseMember } from "./database.ts";

const MAKE = `
  CREATE TABLE kinds (id int PRIMARY KEY, state varchar(20) NOT NULL);
  CREATE TABLE parts (id int PRIMARY KEY, kind int, FOREIGN KEY (kind) REFERENCES kinds (id));
  ${OLD_ROWS}
`;

/** A database of MariaDB for each ground; one whose ground is gone is dropped. */
export function mariadb(server: MariadbServer, port: number): DatabaseMember {
  const first = server.createDatabase();
  return databaseMember({
    id: "MariaDB",
    location: "mariadb",
    canDefer: false,
    query: `
      SELECT CONCAT('kind ', id, ' ', state) AS line FROM kinds
      UNION ALL SELECT CONCAT('part ', id, ' of ', kind) FROM parts ORDER BY line`,
    impatiently: "SET innodb_lock_wait_timeout = 0;",
    make: (ground) => {
      dropGone(server, first, dirname(ground.folder));
      const { name, role } = databaseOf(ground, first);
      server.sql(
        "mysql",
        `CREATE DATABASE \`${name}\` CHARACTER SET utf8mb4;
         GRANT ALL ON \`${name}\`.* TO ${role}@'127.0.0.1'; USE \`${name}\`; ${MAKE}`,
      );
    },
    connection: (ground) => {
      const { name, role, password } = databaseOf(ground, first);
      const url = `mariadb://${role}:${password}@127.0.0.1:${port}/${name}`;
      return `  mariadb:\n    url: ${url}\n`;
    },
    sql: (ground, statements) => server.sql(databaseOf(ground, first), statements),
    // The list is of the whole server, on which one ground stands at a time.
    unsettled: () => server.sql("mysql", "XA RECOVER").map((line) => `prepared ${line}`),
    leftovers: (ground) =>
      server.sql(
        "mysql",
        `SELECT table_name FROM information_schema.tables
         WHERE table_schema = '${databaseOf(ground, first).name}' AND table_name NOT IN ('kinds', 'parts')`,
      ),
  });
}

/** The database of a ground, which is named after it. */
function databaseOf({ folder }: Pick<Ground, "folder">, first: TestDatabase): TestDatabase {
  return { ...first, name: basename(folder) };
}

function dropGone(server: MariadbServer, first: TestDatabase, folder: string): void {
  // A violation may have left something that keeps a database.
  for (const name of server.prepared()) server.settlePrepared(first, name, "ROLLBACK");
  const names = server.sql(
    "mysql",
    `SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'cofferdam-%'`,
  );
  for (const gone of names.filter((one) => !existsSync(join(folder, one))))
    server.sql("mysql", `DROP DATABASE \`${gone}\``);
}
