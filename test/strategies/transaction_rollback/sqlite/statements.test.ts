import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DatabaseError } from "../../../../src/index.ts";
import { expectCheckpoints } from "../checkpoints.ts";
import { expectForks } from "../forks.ts";
import { makeFiles, rowsOf } from "./ground.ts";

const SETUP =
  "CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE);" +
  "CREATE TABLE parts (item REFERENCES items ON DELETE CASCADE); CREATE TABLE loose (k TEXT PRIMARY KEY);" +
  "CREATE TABLE unnumbered (rowid, oid, _rowid_); CREATE VIRTUAL TABLE words USING fts5(word); INSERT INTO items (name) VALUES ('one'); INSERT INTO parts VALUES (1)";

describe("statements that a sandbox of a SQLite database cannot take", () => {
  it.each([
    ["COMMIT", "endsTransaction"],
    ["/* hidden */ RoLlBaCk", "endsTransaction"],
    ["BEGIN IMMEDIATE", "endsTransaction"],
    ["END", "endsTransaction"],
    ["SAVEPOINT mine", "endsTransaction"],
    ["RELEASE cofferdam_statement", "endsTransaction"],
    ["VACUUM", "outsideTransaction"],
    ["ATTACH 'other.db' AS other", "session"],
    ["DETACH main", "session"],
    ["PRAGMA foreign_keys = OFF", "session"],
    ["CREATE TEMP TABLE t (a)", "session"],
    ["CREATE TABLE temp.t (a)", "session"],
    ["SELECT load_extension('x')", "sideEffect"],
    ["CREATE VIRTUAL TABLE more USING fts5(a)", "notCaptured"],
    ["INSERT INTO words VALUES ('hidden')", "notCaptured"],
    ["INSERT INTO unnumbered VALUES (1, 2, 3)", "notCaptured"],
    ["UPDATE sqlite_sequence SET seq = 77", "notCaptured"],
    ["ANALYZE", "notCaptured"],
    ["REINDEX", "notCaptured"],
    ["CREATE TABLE copies AS SELECT * FROM items", "notCaptured"],
    ["DROP TABLE items", "notCaptured"],
    ["CREATE VIEW main.names AS SELECT name FROM main.items", "notCaptured"],
    ["INSERT INTO loose VALUES (NULL)", "notCaptured"],
    ["INSERT INTO cofferdam_effects VALUES (1, 1, 1, 1)", "notCaptured"],
    ["INSERT INTO parts VALUES (99)", "failed"],
    ["INSERT INTO nowhere VALUES (1)", "failed"],
    ["nonsense", "notCaptured"],
  ])(
    "such as %s are refused, and nothing of the script is kept (R98)",
    async (statement, reason) => {
      const files = makeFiles({ shop: SETUP });
      await using cofferdam = await files.open();
      const sandbox = await files.sandbox(cofferdam);
      const writing = sandbox.write("x", `INSERT INTO items (name) VALUES ('; two'); ${statement}`);
      await expect(writing).rejects.toBeInstanceOf(DatabaseError);
      await expect(writing).rejects.toMatchObject({
        code: "DATABASE",
        data: { reason, position: 2 },
      });
      expect((await sandbox.diff()).isEmpty).toBe(true);
      expect(files.sql("shop", "SELECT name FROM items")).toEqual(["one"]);
    },
  );

  it("include rows that triggers tangle, and virtual tables that they change", async () => {
    const triggers = `${SETUP};
      CREATE TABLE log (what);
      CREATE TRIGGER note AFTER DELETE ON items BEGIN INSERT INTO log VALUES (OLD.name); END;
      CREATE TRIGGER twice BEFORE UPDATE ON loose WHEN OLD.k = 'a' BEGIN UPDATE loose SET k = 'b' WHERE k = 'a'; END;
      CREATE TRIGGER find AFTER INSERT ON loose BEGIN INSERT INTO words VALUES (NEW.k); END;
      DELETE FROM loose; INSERT INTO loose VALUES ('a')`;
    const files = makeFiles({ shop: triggers });
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    for (const statement of ["UPDATE loose SET k = k || 'c'", "INSERT INTO loose VALUES ('z')"]) {
      await expect(sandbox.write("x", statement)).rejects.toMatchObject({
        code: "DATABASE",
        data: { reason: "notCaptured", position: 1 },
      });
    }
    await sandbox.write("gone", "DELETE FROM items WHERE id = 1; SELECT replace('a', 'a', 'b')");
    await sandbox.commit();
    expect(files.sql("shop", "SELECT what FROM log")).toEqual(["one"]);
  });

  it("include every change that a read would make", async () => {
    const files = makeFiles({ shop: SETUP });
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    for (const query of [
      "SELECT 1; DELETE FROM items",
      "WITH gone AS (SELECT 1) DELETE FROM items",
      "SELECT * FROM nowhere",
    ]) {
      await expect(sandbox.read(query)).rejects.toMatchObject({
        code: "DATABASE",
        data: { reason: "failed" },
      });
    }
    const query =
      "SELECT 'a//b;' AS path, count(*) AS n, x'00ff' AS b, 0.5 AS r, NULL AS none FROM items -- end";
    expect(rowsOf(await sandbox.read(query))).toEqual([
      { path: "a//b;", n: 1, b: { blob: "00ff" }, r: 0.5, none: null },
    ]);
  });
});

it("a row without its parent is taken where the connection says that foreign keys are off", async () => {
  const files = makeFiles({ shop: SETUP }, { settings: "?foreign_keys=off" });
  await using cofferdam = await files.open();
  const sandbox = await files.sandbox(cofferdam);
  await sandbox.write("alone", "INSERT INTO parts VALUES (99)");
  await sandbox.commit();
  expect(files.sql("shop", "SELECT item FROM parts")).toEqual(["1", "99"]);
});

it("checkpoints of a SQLite database can be restored again and again, in any order (R95)", async () => {
  const files = makeFiles({ shop: SETUP });
  await using cofferdam = await files.open();
  const sandbox = await files.sandbox(cofferdam);
  await expectCheckpoints(sandbox, {
    names: "SELECT group_concat(name, ',' ORDER BY name) AS names FROM items",
    change: "ALTER TABLE items ADD COLUMN more; UPDATE items SET more = 1",
    query: "SELECT DISTINCT more FROM items",
    answer: [{ more: 1 }],
  });
  expect(files.sql("shop", "SELECT name FROM items ORDER BY name")).toEqual(["a", "one"]);
  await sandbox.rollback();
  expect(files.sql("shop", "SELECT name FROM items")).toEqual(["one"]);
});

it("a plan with a SQLite database is forked, and rows of both are conflicts of whichever commits second", async () => {
  const files = makeFiles({ shop: SETUP });
  await using cofferdam = await files.open();
  await files.ref(cofferdam);
  await expectForks(await cofferdam.plan("plan"), {
    open: files.open,
    resourceId: "shop",
    names: "SELECT group_concat(name, ',' ORDER BY name) AS names FROM items",
    real: () => files.sql("shop", "SELECT name FROM items ORDER BY name"),
  });
});

it("of a fork that cannot be made whole nothing is left", async () => {
  const files = makeFiles({ shop: SETUP });
  await using cofferdam = await files.open();
  const { sandboxId } = await files.ref(cofferdam);
  const plan = await cofferdam.plan("plan");
  for (const name of ["a", "b"])
    await plan.sandbox("shop").write(name, `INSERT INTO items (name) VALUES ('${name}')`);
  const folder = join(files.stateDirectory, "databases");
  const before = readdirSync(folder);
  const [oldest = ""] = readdirSync(join(folder, sandboxId, "writes")).toSorted();
  rmSync(join(folder, sandboxId, "writes", oldest));
  await expect(plan.fork("other")).rejects.toMatchObject({ code: "RECORD_DAMAGED" });
  expect(readdirSync(folder)).toEqual(before);
  expect(await cofferdam.list("other")).toEqual([]);
});

it("tells how a statement would be run, without running it (R96)", async () => {
  const files = makeFiles({ shop: SETUP });
  await using cofferdam = await files.open();
  const sandbox = await files.sandbox(cofferdam);
  const plan = rowsOf(await sandbox.read("EXPLAIN QUERY PLAN DELETE FROM parts WHERE item = 1"));
  expect(plan).toMatchObject([{ detail: expect.stringContaining("parts") as string }]);
  expect(rowsOf(await sandbox.read("SELECT count(*) AS n FROM parts"))).toEqual([{ n: 1 }]);
});
