import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DatabaseError } from "../../../src/index.ts";
import { PostgresServer } from "../../support/postgres-server.ts";
import { expectCheckpoints } from "./checkpoints.ts";
import { SHOP, makeGround, rowsOf } from "./fixture.ts";
import { expectForks } from "./forks.ts";

const SETUP =
  "CREATE TABLE items (id serial PRIMARY KEY, name text); INSERT INTO items (name) VALUES ('one')";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

describe("statements that a sandbox cannot take", () => {
  it.each([
    ["COMMIT", "endsTransaction"],
    ["/* hidden */ RoLlBaCk", "endsTransaction"],
    ["BEGIN", "endsTransaction"],
    ["SAVEPOINT mine", "endsTransaction"],
    ["PREPARE TRANSACTION 'mine'", "endsTransaction"],
    ["VACUUM", "outsideTransaction"],
    ["CREATE DATABASE more", "outsideTransaction"],
    ["CREATE INDEX CONCURRENTLY i ON items (name)", "outsideTransaction"],
    ["REFRESH MATERIALIZED VIEW CONCURRENTLY m", "notCaptured"],
    ["REINDEX TABLE items", "notCaptured"],
    ["SET search_path = other", "session"],
    ["CREATE TEMP TABLE t (a int)", "session"],
    ["NOTIFY somebody", "sideEffect"],
    ["SELECT pg_notify('a', 'b')", "sideEffect"],
    ["SELECT setval('items_id_seq', 99)", "sideEffect"],
    ["ALTER ROLE postgres PASSWORD 'x'", "sideEffect"],
    ["TRUNCATE items", "notCaptured"],
    ["COPY items TO '/tmp/x'", "notCaptured"],
    ["CREATE TABLE copies AS SELECT * FROM items", "notCaptured"],
    ["SELECT * INTO copies FROM items", "notCaptured"],
    ["DO $$ BEGIN CREATE TABLE inside (a int); END $$", "notCaptured"],
    ["DO $$ BEGIN COMMIT; END $$", "failed"],
    ["INSERT INTO nowhere VALUES (1)", "failed"],
  ])(
    "such as %s are refused, and nothing of the script is kept (R98)",
    async (statement, reason) => {
      const ground = makeGround(server, SETUP);
      await using cofferdam = await ground.open();
      const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
      const writing = sandbox.write(
        "script",
        `INSERT INTO items (name) VALUES ('; two'); ${statement}`,
      );
      await expect(writing).rejects.toBeInstanceOf(DatabaseError);
      await expect(writing).rejects.toMatchObject({
        code: "DATABASE",
        data: { reason, position: 2 },
      });
      expect((await sandbox.diff()).isEmpty).toBe(true);
      expect(ground.sql("SELECT name FROM items")).toEqual(["one"]);
      expect(ground.prepared()).toEqual([]);
    },
  );

  it("include every change that a read would make", async () => {
    const ground = makeGround(
      server,
      `${SETUP}; CREATE FUNCTION spoil() RETURNS int LANGUAGE sql AS 'DELETE FROM items RETURNING 1'`,
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    for (const query of [
      "SELECT spoil()",
      "SELECT 1; DELETE FROM items",
      "WITH d AS (DELETE FROM items RETURNING 1) SELECT * FROM d",
    ]) {
      await expect(sandbox.read(query)).rejects.toMatchObject({
        code: "DATABASE",
        data: { reason: "failed" },
      });
    }
    expect(
      rowsOf(await sandbox.read("SELECT 'a//b/./c' AS path, count(*) AS n FROM items")),
    ).toEqual([{ path: "a//b/./c", n: 1 }]);
  });
});

describe("taking a commit back", () => {
  it("is refused for a change of the schema, which is told with the commit (R90)", async () => {
    const ground = makeGround(
      server,
      "CREATE TABLE stock (id int PRIMARY KEY); INSERT INTO stock VALUES (1), (2)",
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write(
      "schema",
      "ALTER TABLE stock ADD COLUMN place text DEFAULT 'here'; UPDATE stock SET place = 'there' WHERE id = 1",
    );
    const result = await sandbox.commit();
    expect(result.undoable.possible).toBe(false);
    expect(ground.sql("SELECT place FROM stock WHERE id < 3 ORDER BY id")).toEqual([
      "there",
      "here",
    ]);
    await expect(sandbox.rollback()).rejects.toMatchObject({
      code: "SANDBOX_ROLLBACK",
      data: { reason: "notUndoable", originalRestored: false },
    });
    expect((await sandbox.describe()).status).toBe("COMMITTED");
  });
});

describe("checkpoints of a database", () => {
  it("can be restored again and again, in any order (R95)", async () => {
    const ground = makeGround(server, SETUP);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await expectCheckpoints(sandbox, {
      names: "SELECT string_agg(name, ',' ORDER BY name) AS names FROM items",
      change: "ALTER TABLE items ADD COLUMN more int; UPDATE items SET more = 1",
      query: "SELECT DISTINCT more FROM items",
      answer: [{ more: 1 }],
    });
    expect(ground.sql("SELECT name FROM items ORDER BY name")).toEqual(["a", "one"]);
  });
});

it("a plan with a database is forked, and the rows of both are conflicts of whichever commits second", async () => {
  const ground = makeGround(server, SETUP);
  await using cofferdam = await ground.open();
  await cofferdam.create("plan", SHOP);
  await expectForks(await cofferdam.plan("plan"), {
    open: ground.open,
    resourceId: SHOP.resourceId,
    names: "SELECT string_agg(name, ',' ORDER BY name) AS names FROM items",
    real: () => ground.sql("SELECT name FROM items ORDER BY name"),
  });
});

it("a materialized view is refreshed in the sandbox, and by the commit (R89)", async () => {
  const view = "CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS n FROM items";
  const ground = makeGround(server, `${SETUP}; ${view}`);
  await using cofferdam = await ground.open();
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  await sandbox.write("two", "INSERT INTO items (name) VALUES ('two')");
  await sandbox.write("refresh", "REFRESH MATERIALIZED VIEW counted");
  expect(rowsOf(await sandbox.read("SELECT n FROM counted"))).toEqual([{ n: 2 }]);
  expect(ground.sql("SELECT n FROM counted")).toEqual(["1"]);
  await sandbox.commit();
  expect(ground.sql("SELECT n FROM counted")).toEqual(["2"]);
});

it("a statement that the server refuses is told with the row, and with what the server advises (R96)", async () => {
  const ground = makeGround(server, SETUP);
  await using cofferdam = await ground.open();
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  const [{ id }] = rowsOf(await sandbox.read("SELECT id FROM items LIMIT 1")) as [{ id: number }];
  const doubled = `INSERT INTO items (name) VALUES ('x'); INSERT INTO items (id, name) VALUES (${id}, 'x')`;
  await expect(sandbox.write("doubled", doubled)).rejects.toMatchObject({
    message: expect.stringContaining(`: Key (id)=(${id}) already exists.`) as string,
    data: { position: 2, sqlState: "23505" },
  });
  await expect(sandbox.write("mistyped", "UPDATE items SET nam = 'x'")).rejects.toMatchObject({
    message: expect.stringMatching(/"items" does not exist$/) as string,
    hint: "Nothing of the script was kept.",
  });
  await expect(
    sandbox.write("odd", "DELETE FROM items WHERE lower(id) = '1'"),
  ).rejects.toMatchObject({
    hint: expect.stringMatching(/^Nothing of the script was kept\. No function matches /) as string,
  });
});

it("questions that are no query are answered, and change nothing (R96)", async () => {
  const ground = makeGround(server, SETUP);
  await using cofferdam = await ground.open();
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  expect(rowsOf(await sandbox.read("SHOW max_prepared_transactions"))).toEqual([
    { max_prepared_transactions: "20" },
  ]);
  const [plan] = rowsOf(await sandbox.read("EXPLAIN DELETE FROM items")) as [object];
  expect(plan).toEqual({ "QUERY PLAN": expect.stringContaining("items") as string });
  await expect(sandbox.read("EXPLAIN ANALYZE DELETE FROM items")).rejects.toMatchObject({
    code: "DATABASE",
    data: { sqlState: "25006" },
  });
  expect(ground.sql("SELECT count(*) FROM items")).toEqual(["1"]);
});
