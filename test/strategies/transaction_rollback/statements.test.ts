import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  DatabaseError,
  SandboxCreationError,
  type SandboxEvent,
  openCofferdam,
} from "../../../src/index.ts";
import { PostgresServer } from "../../support/postgres-server.ts";
import { tempFolder } from "../../support/temp.ts";
import { SHOP, makeGround, rowsOf } from "./fixture.ts";

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
    const names = async (): Promise<unknown> =>
      rowsOf(await sandbox.read("SELECT string_agg(name, ',' ORDER BY name) AS names FROM items"));
    await sandbox.write("a", "INSERT INTO items (name) VALUES ('a')");
    await sandbox.checkpoint("first");
    await sandbox.write(
      "b",
      "INSERT INTO items (name) VALUES ('b'); DELETE FROM items WHERE name = 'one'",
    );
    await sandbox.checkpoint("second");
    await sandbox.write("c", "ALTER TABLE items ADD COLUMN more int; UPDATE items SET more = 1");
    await sandbox.checkpoint("third");
    await sandbox.restoreCheckpoint("second");
    expect(await names()).toEqual([{ names: "a,b" }]);
    await sandbox.write("d", "INSERT INTO items (name) VALUES ('d')");
    expect(await names()).toEqual([{ names: "a,b,d" }]);
    await sandbox.restoreCheckpoint("first");
    expect(await names()).toEqual([{ names: "a,one" }]);
    await sandbox.restoreCheckpoint("third");
    expect(rowsOf(await sandbox.read("SELECT DISTINCT more FROM items"))).toEqual([{ more: 1 }]);
    await sandbox.restoreCheckpoint("first");
    await sandbox.commit();
    expect(ground.sql("SELECT name FROM items ORDER BY name")).toEqual(["a", "one"]);
  });
});

describe("what a sandbox leaves", () => {
  it("is nothing on the server: no connection, lock or prepared transaction", async () => {
    const ground = makeGround(server, SETUP);
    await using cofferdam = await ground.open();
    const ref = await cofferdam.create("plan", SHOP);
    const sandbox = cofferdam.sandbox(ref);
    await sandbox.write("a", "UPDATE items SET name = 'mine'");
    await sandbox.read("SELECT 1 AS one");
    await sandbox.cleanup();
    const left = [
      "SELECT pid FROM pg_stat_activity WHERE application_name ~ 'cofferdam'",
      `SELECT locktype FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE d.datname = '${ground.database.name}'`,
      "SELECT gid FROM pg_prepared_xacts",
    ];
    for (const query of left) expect(server.sql("postgres", query)).toEqual([]);
    expect(ground.sql("SET lock_timeout = '1ms'; DELETE FROM items RETURNING name")).toEqual([
      "one",
    ]);
    expect(readdirSync(join(ground.stateDirectory, "databases"))).toEqual([]);
  });

  it("is never a password: neither in files, events, refs nor errors (R238)", async () => {
    const ground = makeGround(server, SETUP);
    const { password } = ground.database;
    const events: SandboxEvent[] = [];
    await using cofferdam = await ground.open({ onEvent: (event) => events.push(event) });
    const ref = await cofferdam.create("plan", SHOP);
    const sandbox = cofferdam.sandbox(ref);
    await sandbox.write("a", "UPDATE items SET name = 'mine'");
    await sandbox.commit();
    ground.sql("DELETE FROM items");
    const failures = [
      await sandbox.rollback().catch((thrown: unknown) => thrown),
      await sandbox.write("b", "SELECT 1").catch((thrown: unknown) => thrown),
      await cofferdam.inspectStrategies(SHOP),
    ];
    ground.server.sql("postgres", `ALTER ROLE ${ground.database.role} PASSWORD 'another'`);
    failures.push(await cofferdam.create("other", SHOP).catch((thrown: unknown) => thrown));
    const told = JSON.stringify([ref, events, failures, await cofferdam.list()]);
    expect(told).toContain("SANDBOX_ROLLBACK");
    expect(told).not.toContain(password);
    const files = readdirSync(ground.stateDirectory, { recursive: true, withFileTypes: true });
    const texts = files
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
    expect(texts.length).toBeGreaterThan(3);
    for (const text of texts) expect(text).not.toContain(password);
  });
});

describe("a connection", () => {
  it("takes its password from a file that only the user can read", async () => {
    const ground = makeGround(server, SETUP);
    const { role, password, name } = ground.database;
    writeFileSync(join(ground.folder, "secret"), `${password}\n`, { mode: 0o600 });
    const url = `postgres://${role}@127.0.0.1:${server.port}/${name}`;
    writeFileSync(
      ground.config,
      `connections: { main: { url: "${url}", password_file: ./secret } }\n`,
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    expect(rowsOf(await sandbox.read("SELECT name FROM items"))).toEqual([{ name: "one" }]);
  });

  it("that is unknown, unreachable, or to another kind of server makes no sandbox", async () => {
    const folder = tempFolder();
    const config = join(folder, "cofferdam.yaml");
    const urls = { dead: "postgres://a@127.0.0.1:1/x", other: "oracle://a@127.0.0.1/x" };
    writeFileSync(
      config,
      JSON.stringify({ connections: { dead: { url: urls.dead }, other: { url: urls.other } } }),
    );
    await using cofferdam = await openCofferdam({ stateDirectory: join(folder, "state"), config });
    const create = (location: string): Promise<unknown> =>
      cofferdam.create("plan", { resourceId: "shop", type: "database", location });
    await expect(create("nowhere")).rejects.toMatchObject({ data: { stage: "connection" } });
    await expect(create("other")).rejects.toBeInstanceOf(SandboxCreationError);
    await expect(create("other")).rejects.toMatchObject({
      code: "SANDBOX_CREATION",
      data: { stage: "engine" },
    });
    await expect(create("dead")).rejects.toMatchObject({
      code: "DATABASE",
      data: { reason: "unreachable" },
    });
    expect(await cofferdam.list()).toEqual([]);
  });

  it("that is pointed to another database is refused before anything is written there", async () => {
    const ground = makeGround(server, SETUP);
    const elsewhere = makeGround(server, SETUP);
    await using cofferdam = await ground.open();
    const ref = await cofferdam.create("plan", SHOP);
    await cofferdam.sandbox(ref).write("a", "INSERT INTO items (name) VALUES ('two')");
    await using misled = await ground.open({ config: elsewhere.config });
    await expect(misled.sandbox(ref).commit()).rejects.toMatchObject({
      code: "DATABASE",
      data: { reason: "otherDatabase" },
    });
    expect(elsewhere.sql("SELECT name FROM items")).toEqual(["one"]);
    await cofferdam.sandbox(ref).commit();
    expect(ground.sql("SELECT name FROM items ORDER BY 1")).toEqual(["one", "two"]);
  });
});
