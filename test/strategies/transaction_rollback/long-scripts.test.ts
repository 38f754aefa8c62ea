import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../../src/index.ts";
import { MARIADB as MARIADB_LEXIS } from "../../../src/strategies/transaction_rollback/mariadb/lexis.ts";
import { POSTGRES as POSTGRES_LEXIS } from "../../../src/strategies/transaction_rollback/postgres/lexis.ts";
import { splitStatements } from "../../../src/strategies/transaction_rollback/sql/split-statements.ts";
import { splitStatements as splitSqlite } from "../../../src/strategies/transaction_rollback/sqlite/split-statements.ts";
import { SHOP, makeGround } from "./fixture.ts";
import { POSTGRES, SERVERS, runServer } from "./servers.ts";
import { makeFiles } from "./sqlite/ground.ts";

const SETUP = "CREATE TABLE items (id int PRIMARY KEY, n int NOT NULL)";
/** Whole pages of effects, a part of one, and one row each. */
const AMOUNTS = [1000, 2000, 2001, 1];

/** Makes so many rows in one statement, from a number on. */
function inserted(from: number, amount: number): string {
  const rows = Array.from({ length: amount }, (_, at) => `(${from + at}, 0)`);
  return `INSERT INTO items VALUES ${rows.join(", ")}`;
}

const SCRIPT = `-- a comment; with a semicolon
INSERT INTO items
  VALUES (1, 0);
/* over
two lines */ INSERT INTO items VALUES (2, 0); UPDATE items SET n = length('a
b;') WHERE id = 3;

  DELETE FROM nowhere;
`;

async function expectLine(sandbox: Sandbox): Promise<void> {
  await expect(sandbox.write("w", SCRIPT)).rejects.toMatchObject({
    message: expect.stringMatching(/^Statement 4 \(DELETE, line 8\) failed/) as string,
    data: { position: 4 },
  });
}

describe.each(SERVERS)("a long script on $name", (kind) => {
  const on = runServer(kind);

  it("is recorded row by row, whether a statement makes one or very many (R96)", async () => {
    const ground = makeGround(on.server, SETUP);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    let next = 0;
    const many = AMOUNTS.map((amount) => inserted((next += amount) - amount, amount));
    const single = Array.from({ length: 300 }, (_, at) => [
      `INSERT INTO items VALUES (${next + at}, 1)`,
      `UPDATE items SET n = n + 2 WHERE id = ${at}`,
      `DELETE FROM items WHERE id = ${1000 + at}`,
    ]);
    await sandbox.write("long.sql", [...many, ...single.flat()].join(";\n"));
    const { changes } = await sandbox.diff();
    expect(changes).toHaveLength(next);
    await sandbox.commit();
    const sums =
      "SELECT COUNT(*) FROM items; SELECT SUM(n) FROM items; SELECT MIN(id) FROM items WHERE id > 999";
    expect(ground.sql(sums)).toEqual([`${next}`, "900", "1300"]);
    await sandbox.undoCommit();
    expect(ground.sql("SELECT COUNT(*) FROM items")).toEqual(["0"]);
  });

  it("sees the tables that each statement names, though only the names differ (R96)", async () => {
    const ground = makeGround(
      on.server,
      `${SETUP}; CREATE TABLE item2 (id int PRIMARY KEY, n int)`,
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    const script = ["items", "item2"].map((table) => `INSERT INTO ${table} VALUES (1, 1)`);
    await sandbox.write("w", script.join(";"));
    const { changes } = await sandbox.diff();
    expect(changes.map(({ path }) => path)).toEqual([
      `${ground.schema}.item2/1`,
      `${ground.schema}.items/1`,
    ]);
  });

  it("is told with the line of the statement that fails (R96)", async () => {
    const ground = makeGround(on.server, SETUP);
    await using cofferdam = await ground.open();
    await expectLine(cofferdam.sandbox(await cofferdam.create("plan", SHOP)));
  });
});

it("a script of SQLite is told with the line of the statement that fails", async () => {
  const files = makeFiles({ shop: SETUP });
  await using cofferdam = await files.open();
  await expectLine(await files.sandbox(cofferdam));
});

describe("a literal of many megabytes", () => {
  /** More than a regular expression goes back over. */
  const LONG = "0123456789abcdef".repeat(10 * 65_536);
  const INSERT = `INSERT INTO photos VALUES (1, 'it''s ; ${LONG}')`;

  it.each([
    ["PostgreSQL", (script: string) => splitStatements(script, POSTGRES_LEXIS)],
    ["MariaDB", (script: string) => splitStatements(script, MARIADB_LEXIS)],
    ["SQLite", splitSqlite],
  ])("is no hindrance to the statements beside it on %s", (_name, split) => {
    const statements = split(`${INSERT}; DELETE FROM photos`);
    expect(statements.map(({ bare }) => bare)).toEqual([
      "INSERT INTO photos VALUES (1, )".toUpperCase(),
      "DELETE FROM PHOTOS",
    ]);
  });

  it("is committed and taken back (R96)", async () => {
    await using server = await POSTGRES.start();
    const ground = makeGround(server, "CREATE TABLE photos (id int PRIMARY KEY, bytes text)");
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("one", INSERT);
    await sandbox.commit();
    expect(ground.sql("SELECT id, length(bytes) FROM photos")).toEqual([`1|${LONG.length + 7}`]);
    await sandbox.undoCommit();
    expect(ground.sql("SELECT id FROM photos")).toEqual([]);
  });
});
