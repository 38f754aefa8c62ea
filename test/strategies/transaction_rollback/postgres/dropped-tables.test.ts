import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SandboxConflictError } from "../../../../src/index.ts";
import { PostgresServer } from "../../../support/postgres-server.ts";
import { SHOP, makeGround } from "../fixture.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

const SETUP = `CREATE TABLE people (id int PRIMARY KEY, name text, at timestamptz);
  INSERT INTO people VALUES (1, 'ann', '2026-01-01 10:00+02'), (2, 'bob', NULL);
  CREATE SCHEMA old; CREATE TABLE old.notes (t text); INSERT INTO old.notes VALUES ('a'), ('a'), ('b');
  CREATE TABLE parts (id int, r text) PARTITION BY LIST (r); CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a');
  INSERT INTO parts VALUES (1, 'a'); CREATE TABLE bare (x int)`;
/** The usual way to change what a table is like. */
const COPIED = `CREATE TABLE people2 (id int PRIMARY KEY, name text NOT NULL, at timestamptz);
  INSERT INTO people2 SELECT * FROM people WHERE name IS NOT NULL; DROP TABLE people; ALTER TABLE people2 RENAME TO people`;

describe("a table that a script drops", () => {
  it.each([
    ["a row that was added", COPIED, "INSERT INTO people VALUES (3, 'foreign', now())", "people"],
    ["a row that was changed", COPIED, "UPDATE people SET name = 'Ann' WHERE id = 1", "people"],
    ["a row that was deleted", COPIED, "DELETE FROM people WHERE id = 2", "people"],
    ["a new column", COPIED, "ALTER TABLE people ADD COLUMN phone text", "people"],
    [
      "one of several equal rows",
      "DROP SCHEMA old CASCADE",
      "INSERT INTO old.notes VALUES ('a')",
      "old.notes",
    ],
    [
      "a row of a partition",
      "DROP TABLE bare, parts",
      "INSERT INTO parts VALUES (2, 'a')",
      "parts_a",
    ],
  ])("takes no work of others along: %s is a conflict", async (_what, script, theirs, table) => {
    const ground = makeGround(server, SETUP);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("migration", script);
    ground.sql(theirs);
    const before = ground.sql("SELECT * FROM people ORDER BY id");
    const attempt = sandbox.commit();
    await expect(attempt).rejects.toBeInstanceOf(SandboxConflictError);
    const path = table.includes(".") ? table : `public.${table}`;
    await expect(attempt).rejects.toMatchObject({ data: { conflicts: [{ path }] } });
    expect(ground.sql("SELECT * FROM people ORDER BY id")).toEqual(before);
  });

  it("goes when it is as it was found, also with rows that the sandbox has changed in it", async () => {
    const ground = makeGround(server, SETUP);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("edit", "UPDATE people SET name = 'Ann' WHERE id = 1");
    await sandbox.write("migration", COPIED);
    await sandbox.write(
      "more",
      "INSERT INTO people VALUES (4, 'new'); DROP TABLE parts, bare; DROP SCHEMA old CASCADE",
    );
    await sandbox.commit();
    expect(ground.sql("SELECT id, name FROM people ORDER BY id")).toEqual([
      "1|Ann",
      "2|bob",
      "4|new",
    ]);
    expect(
      ground.sql(
        "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace",
      ),
    ).toEqual(["people"]);
  });
});
