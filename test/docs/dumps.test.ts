import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeDatabaseHome } from "../cli/command-database.ts";
import { coffer, makeHome, node, program } from "../cli/coffer.ts";
import { MARIADB, POSTGRES } from "../strategies/transaction_rollback/servers.ts";
import { checkout, pagesBelow } from "./markdown.ts";

const SETUP = `CREATE TABLE kinds (id int PRIMARY KEY, name varchar(20));
  CREATE TABLE items (id int PRIMARY KEY, kind int REFERENCES kinds (id), note varchar(99))`;
/** Bytes that are no text, and a moment, as each has them. */
const MORE = {
  mariadb: `CREATE TABLE files (id int PRIMARY KEY, content blob, at timestamp);
    INSERT INTO files VALUES (1, x'89504e47ff00', '2024-03-10 00:30:00')`,
  postgres: `CREATE TABLE files (id serial PRIMARY KEY, content bytea, at timestamptz);
    INSERT INTO files VALUES (1, '\\x89504e47ff00', '2024-03-10 00:30:00')`,
};
const ROWS = `INSERT INTO kinds VALUES (1, 'it''s'), (2, 'b;c');
  INSERT INTO items VALUES (1, 1, 'two
lines -- of text'), (2, 2, NULL)`;

/** The commands on the page about databases that load a dump. */
function commandsOfPage(): readonly string[] {
  const page = pagesBelow(checkout).find(({ name }) => name === "docs/databases.md");
  const block = page?.blocks.find(({ text }) => text.includes("pg_dump"));
  return (block?.text ?? "").trim().split("\n\n");
}

describe.each([
  ["postgres", POSTGRES, "pg_dump"],
  ["mariadb", MARIADB, "mariadb-dump"],
] as const)("a dump of %s", (scheme, kind, dumper) => {
  it("is loaded into a sandbox by the command on the page", async () => {
    await using server = await kind.start();
    const [from, to] = [server.createDatabase(), server.createDatabase()];
    // MariaDB has to have the tables; PostgreSQL gets them from a dump as well.
    for (const database of scheme === "mariadb" ? [from, to] : [from]) server.sql(database, SETUP);
    server.sql(from, ROWS);
    if (scheme === "mariadb") server.sql("mysql", "SET GLOBAL time_zone = '+02:00'");
    server.sql(from, MORE[scheme]);
    if (scheme === "mariadb") server.sql(to, MORE[scheme].replace(/;.*/s, ""));
    const home = makeHome({ "cofferdam.yaml": `connections:\n  shop:\n    url: ${to.url}\n` });
    expect(coffer(home, ["open", "try", "-r", `${scheme}:shop`]).code).toBe(0);
    const command = commandsOfPage().find((text) => text.startsWith(dumper)) ?? "";
    const { username, password } = new URL(from.url);
    const login = join(home.folder, "login.cnf");
    const where = `[client]\nhost=127.0.0.1\nport=${server.port}\nuser=${username}\npassword=${password}\n`;
    writeFileSync(login, where, { mode: 0o600 });
    const other = scheme === "postgres" ? from.url : from.name;
    const schema = "pg_dump --schema-only --no-owner --no-privileges";
    const first =
      scheme === "postgres" ? `${command.replace(/^pg_dump.*(?= OTHER)/, schema)}\n` : "";
    const script = `${first}${command}`
      .replace(/^mariadb-dump/, `mariadb-dump --defaults-extra-file=${login}`)
      .replaceAll("OTHER_DATABASE", other)
      .replace("TABLE…", "kinds items files")
      .replaceAll("coffer sql PLAN NAME", `'${node}' '${program}' sql try shop`);
    const loaded = spawnSync("sh", ["-ec", script], {
      cwd: home.project,
      env: home.env,
      encoding: "utf8",
    });
    expect(loaded).toMatchObject({ status: 0 });
    const restart = "ALTER SEQUENCE files_id_seq RESTART WITH 2";
    if (scheme === "postgres")
      coffer(home, ["sql", "try", "shop", `${restart}; INSERT INTO files (at) VALUES (NULL)`]);
    server.sql(from, "INSERT INTO files (id) VALUES (2)");
    if (scheme === "mariadb")
      coffer(home, ["sql", "try", "shop", "INSERT INTO files (id) VALUES (2)"]);
    expect(coffer(home, ["commit", "try"]).code).toBe(0);
    for (const table of ["kinds", "items", "files"]) {
      const query = `SELECT * FROM ${table} ORDER BY id`;
      expect(server.sql(to, query)).toEqual(server.sql(from, query));
    }
  });
});

it("a dump of SQLite is loaded by the command on the page", () => {
  const page = pagesBelow(checkout).find(({ name }) => name === "docs/databases.md");
  const [, command = ""] =
    /`coffer (exec PLAN -- sh -c 'sqlite3 [^`]*)`/.exec(page?.text ?? "") ?? [];
  const home = makeDatabaseHome("SELECT 1");
  writeFileSync(
    join(home.project, "dump.sql"),
    `PRAGMA foreign_keys=OFF;\nBEGIN;\n${SETUP};\n${ROWS};\nCOMMIT;\n`,
  );
  expect(coffer(home, ["open", "try", "-r", "sqlite:./app.db"]).code).toBe(0);
  const script = `'${node}' '${program}' ${command}`
    .replace("PLAN", "try")
    .replace("FILE", "app.db")
    .replace("DUMP", "dump.sql");
  const loaded = spawnSync("sh", ["-ec", script], {
    cwd: home.project,
    env: home.env,
    encoding: "utf8",
  });
  expect(loaded).toMatchObject({ status: 0 });
  expect(coffer(home, ["commit", "try"]).code).toBe(0);
  expect(home.sql("SELECT name FROM kinds ORDER BY id")).toEqual(["it's", "b;c"]);
});
