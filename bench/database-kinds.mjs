import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { createJiti } from "jiti";
import { createConnection } from "mysql2/promise";
import { Client } from "pg";

const jiti = createJiti(import.meta.url);
const TABLE =
  "CREATE TABLE items (id int PRIMARY KEY, state int NOT NULL, note varchar(40) NOT NULL)";

/** A server with the ways of its own client; `makeTable` gives the URL of a database with a table of so many rows. */
export const KINDS = {
  PostgreSQL: async () => {
    const { PostgresServer } = await jiti.import("../test/support/postgres-server.ts");
    const server = await PostgresServer.start({ shared_buffers: "256MB" });
    return {
      makeTable: (size) => {
        const database = server.createDatabase();
        const rows = `SELECT n, 0, 'note of ' || n FROM generate_series(1, ${size}) n`;
        server.sql(database, `${TABLE}; INSERT INTO items ${rows}; ANALYZE items`);
        return database.url;
      },
      connect: async (url) => {
        const client = new Client(url);
        await client.connect();
        return {
          run: (sql) => client.query(sql),
          byHand: (name) => [`PREPARE TRANSACTION '${name}'`, `COMMIT PREPARED '${name}'`],
          begin: () => "BEGIN",
          end: () => client.end(),
        };
      },
      end: () => server[Symbol.asyncDispose](),
    };
  },
  MariaDB: async () => {
    const { MariadbServer } = await jiti.import("../test/support/mariadb-server.ts");
    const server = await MariadbServer.start();
    return {
      makeTable: (size) => {
        const database = server.createDatabase();
        const rows = `SELECT seq, 0, CONCAT('note of ', seq) FROM seq_1_to_${size}`;
        server.sql(database, `${TABLE}; INSERT INTO items ${rows}; ANALYZE TABLE items`);
        return database.url;
      },
      connect: async (url) => {
        const client = await createConnection(url.replace(/^mariadb:/, "mysql:"));
        return {
          run: (sql) => client.query(sql),
          begin: (name) => (name === undefined ? "BEGIN" : `XA START '${name}'`),
          byHand: (name) => [`XA END '${name}'`, `XA PREPARE '${name}'`, `XA COMMIT '${name}'`],
          end: () => client.end(),
        };
      },
      end: () => server[Symbol.asyncDispose](),
    };
  },
  SQLite: async (folder) => ({
    makeTable: (size) => {
      const path = join(mkdtempSync(join(folder, "sqlite-")), "items.db");
      const database = new DatabaseSync(path);
      const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${size})`;
      database.exec(
        `${TABLE}; ${numbers} INSERT INTO items SELECT i, 0, 'note of ' || i FROM n; ANALYZE`,
      );
      database.close();
      return `sqlite:${path}`;
    },
    connect: async (url) => {
      const path = url.slice("sqlite:".length);
      const database = new DatabaseSync(path);
      database.exec(`ATTACH '${path}-second' AS second; CREATE TABLE second.t (n)`);
      return {
        run: async (sql) => database.exec(sql),
        // Nothing is prepared; two files become one atom.
        begin: (name) => `BEGIN IMMEDIATE; ${name ? "INSERT INTO second.t VALUES (1)" : ""}`,
        byHand: () => ["COMMIT"],
        end: async () => database.close(),
      };
    },
    end: async () => undefined,
  }),
};

/** What is done by hand beside a sandbox. */
export const BY_HAND = {
  PostgreSQL: "`PREPARE TRANSACTION` and `COMMIT PREPARED`",
  MariaDB: "`XA PREPARE` and `XA COMMIT`",
  SQLite: "`COMMIT` of two files",
};
