import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SandboxConflictError, SandboxRollbackError } from "../../../../src/index.ts";
import { PostgresServer } from "../../../support/postgres-server.ts";
import { SHOP, makeGround, rowsOf } from "../fixture.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

const SETUP = `CREATE TABLE people (id int PRIMARY KEY, "2" text, "1" text, facts json);
  INSERT INTO people VALUES (1, 'a@x', '555', E'{"a" :\\n {"b": [1, "}"]}}')`;

/** What somebody's migration may do to the columns; the number of columns may stay the same. */
const MIGRATIONS = [
  ["has lost a column and got another", 'DROP COLUMN "1", ADD COLUMN notes text'],
  ["has got a column", "ADD COLUMN notes text"],
  ["has lost a column", "DROP COLUMN facts"],
  ["has a column under another name", 'RENAME COLUMN "1" TO phone'],
  ["has its columns in another order", 'DROP COLUMN "2", ADD COLUMN "2" text'],
] as const;

describe("a table that somebody else altered", () => {
  it.each(MIGRATIONS)("and that %s is a conflict of everything but a diff", async (_, change) => {
    const ground = makeGround(server, SETUP);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("more", "INSERT INTO people VALUES (2, 'b@x', '777')");
    ground.sql(`ALTER TABLE people ${change}`);
    const before = ground.sql("SELECT p::text FROM people p");
    const conflict = {
      code: "SANDBOX_CONFLICT",
      data: { conflicts: [{ path: "public.people", reason: "changed" }] },
    };
    const committing = sandbox.commit();
    await expect(committing).rejects.toBeInstanceOf(SandboxConflictError);
    await expect(committing).rejects.toMatchObject(conflict);
    await expect(sandbox.read("SELECT 1 AS one")).rejects.toMatchObject(conflict);
    await expect(sandbox.write("w", "DELETE FROM people")).rejects.toMatchObject(conflict);
    expect((await sandbox.diff()).isEmpty).toBe(false);
    expect(ground.sql("SELECT p::text FROM people p")).toEqual(before);
    expect(ground.prepared()).toEqual([]);
  });

  it.each(MIGRATIONS)("and that %s keeps its rows from an undo", async (_, change) => {
    const ground = makeGround(server, SETUP);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("none", "DELETE FROM people");
    await sandbox.commit();
    ground.sql(`ALTER TABLE people ${change}`);
    const undoing = sandbox.undoCommit();
    await expect(undoing).rejects.toBeInstanceOf(SandboxRollbackError);
    await expect(undoing).rejects.toMatchObject({
      code: "SANDBOX_ROLLBACK",
      data: { reason: "foreignEdits", paths: ["public.people"] },
    });
    expect(ground.sql("SELECT p::text FROM people p")).toEqual([]);
    expect(ground.prepared()).toEqual([]);
  });

  it("so that a value does not fit any more is a conflict", async () => {
    const ground = makeGround(server, "CREATE TABLE codes (id int PRIMARY KEY, code text)");
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("one", "INSERT INTO codes VALUES (1, 'abc')");
    ground.sql("ALTER TABLE codes ALTER COLUMN code TYPE int USING 0");
    await expect(sandbox.commit()).rejects.toMatchObject({ code: "SANDBOX_CONFLICT" });
  });
});

it("a table that the sandbox itself altered goes on in checkpoints and other processes", async () => {
  const ground = makeGround(server, SETUP);
  await using cofferdam = await ground.open();
  const ref = await cofferdam.create("plan", SHOP);
  const sandbox = cofferdam.sandbox(ref);
  await sandbox.write("first", `UPDATE people SET "2" = 'c@x'; ALTER TABLE people DROP COLUMN "1"`);
  await sandbox.checkpoint("before");
  await sandbox.write(
    "second",
    "ALTER TABLE people ADD COLUMN notes text DEFAULT '-'; UPDATE people SET notes = 'x' WHERE id = 1",
  );
  await sandbox.restoreCheckpoint("before");
  await using other = await ground.open();
  const again = other.sandbox(ref);
  await again.write(
    "third",
    `INSERT INTO people VALUES (2, 'd@x'); ALTER TABLE people ALTER COLUMN id TYPE bigint; ALTER TABLE people RENAME COLUMN "2" TO mail; UPDATE people SET mail = mail || '!'`,
  );
  const query = "SELECT id, mail FROM people ORDER BY id";
  expect(rowsOf(await sandbox.read(query))).toEqual([
    { id: 1, mail: "c@x!" },
    { id: 2, mail: "d@x!" },
  ]);
  await sandbox.commit();
  expect(ground.sql(query)).toEqual(["1|c@x!", "2|d@x!"]);
});

describe("the key of a row", () => {
  it("has none of the columns that its index only includes", async () => {
    const ground = makeGround(
      server,
      `CREATE TABLE t (id int, v int, w int, PRIMARY KEY (id) INCLUDE (v));
       INSERT INTO t VALUES (1, NULL, 1), (2, 5, 2)`,
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("both", "UPDATE t SET v = 6 WHERE id = 2; UPDATE t SET w = 9 WHERE id = 1");
    const told = (await sandbox.diff()).changes.map(({ kind, path }) => `${kind} ${path}`);
    expect(told).toEqual(["modified public.t/1", "modified public.t/2"]);
    await sandbox.commit();
    expect(ground.sql("SELECT * FROM t ORDER BY id")).toEqual(["1||9", "2|6|2"]);
  });

  it("is followed where a script gives its column another name, or the table another key", async () => {
    const ground = makeGround(
      server,
      "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1), (2, 2)",
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write(
      "name",
      "UPDATE t SET v = 11 WHERE id = 1; ALTER TABLE t RENAME COLUMN id TO nid; UPDATE t SET v = 22 WHERE nid = 2",
    );
    const told = (await sandbox.diff()).changes.map(({ kind, path }) => `${kind} ${path}`);
    expect(told.slice(0, 2)).toEqual(["modified public.t/1", "modified public.t/2"]);
    await sandbox.write(
      "key",
      "UPDATE t SET v = v + 1; ALTER TABLE t DROP CONSTRAINT t_pkey; ALTER TABLE t ADD PRIMARY KEY (v); UPDATE t SET nid = nid + 100",
    );
    await sandbox.commit();
    expect(ground.sql("SELECT * FROM t ORDER BY v")).toEqual(["101|12", "102|23"]);
  });

  it("may be written otherwise although the server takes it for the same", async () => {
    const ground = makeGround(
      server,
      "CREATE TABLE n (k numeric PRIMARY KEY, v int); INSERT INTO n VALUES (1.0, 1), (2.0, 2)",
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write(
      "write",
      "UPDATE n SET k = 1.00 WHERE k = 1; UPDATE n SET v = 5 WHERE k = 1",
    );
    await sandbox.write("again", "DELETE FROM n WHERE k = 2; INSERT INTO n VALUES (2.000, 7)");
    await sandbox.commit();
    expect(ground.sql("SELECT * FROM n ORDER BY k")).toEqual(["1.00|5", "2.000|7"]);
    await sandbox.undoCommit();
    expect(ground.sql("SELECT * FROM n ORDER BY k")).toEqual(["1.0|1", "2.0|2"]);
  });
});

it("keys of a type that has no case are repeated as they are written", async () => {
  const ground = makeGround(server, "CREATE SCHEMA empty");
  server.sql(ground.database.name, "CREATE EXTENSION citext");
  ground.sql("CREATE TABLE t (name citext PRIMARY KEY); INSERT INTO t VALUES ('Foo')");
  await using cofferdam = await ground.open();
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  await sandbox.write("shout", "UPDATE t SET name = 'FOO'");
  await sandbox.commit();
  expect(ground.sql("SELECT * FROM t")).toEqual(["FOO"]);
  await sandbox.undoCommit();
  expect(ground.sql("SELECT * FROM t")).toEqual(["Foo"]);
});
