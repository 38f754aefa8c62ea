import { randomBytes } from "node:crypto";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, it } from "vitest";
import { SandboxConflictError, SandboxPathError } from "../../../../src/index.ts";
import { lineOf } from "../../../../src/strategies/transaction_rollback/sqlite/protocol.ts";
import { type Files, makeFiles, rowsOf } from "./ground.ts";

const SCHEMA = `
  CREATE TABLE authors (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE COLLATE NOCASE, weight REAL, photo BLOB, any,
    shout TEXT GENERATED ALWAYS AS (upper(name)) STORED, low TEXT AS (lower(name)));
  CREATE TABLE books (
    author INTEGER REFERENCES authors ON DELETE CASCADE ON UPDATE CASCADE, number INTEGER, title TEXT,
    PRIMARY KEY (author, number)) WITHOUT ROWID, STRICT;
  CREATE TABLE history (at INTEGER PRIMARY KEY, what TEXT, chance REAL DEFAULT (random() / 7.0));
  CREATE TABLE notes (line TEXT);
  CREATE TABLE "odd ""name" ("the key" TEXT, "x'y", "a,b" INTEGER, PRIMARY KEY ("a,b", "the key"));
  CREATE VIEW names AS SELECT name FROM authors;
  CREATE TRIGGER remember AFTER INSERT ON authors BEGIN
    INSERT INTO history (what) VALUES ('insert ' || NEW.name);
    UPDATE authors SET weight = coalesce(weight, 0) + 0.1 WHERE id = NEW.id; END;
  CREATE TRIGGER touch AFTER UPDATE ON authors BEGIN
    UPDATE authors SET weight = weight + 1 WHERE id = NEW.id;
    INSERT INTO history (what) VALUES (CASE WHEN NEW.id = OLD.id THEN 'same' ELSE 'moved' END); END;
  CREATE TRIGGER gone AFTER DELETE ON books BEGIN INSERT INTO history (what) VALUES ('gone ' || OLD.title); END;
  CREATE TRIGGER through INSTEAD OF INSERT ON names BEGIN INSERT INTO authors (name) VALUES (NEW.name); END;
  INSERT INTO authors (name, weight, photo, any) VALUES ('Ada', 0.1, x'00ff', 9007199254740993), ('Ben', 1e300, NULL, '5'), ('Cyd', -0.0, x'', 5);
  INSERT INTO books VALUES (1, 1, 'One'), (1, 2, 'Two'), (2, 1, 'Three');
  INSERT INTO notes VALUES ('same'), ('same'), ('other');
  DELETE FROM history`;

const SCRIPT = `
  INSERT INTO authors (name, any) VALUES ('Dan;--', 'it''s' || char(0) || 'zero'), ('Eve', CAST(x'ff00fe' AS TEXT));
  UPDATE authors SET id = 100, weight = weight / 3 WHERE name = 'ada';
  /* a comment; with a semicolon */ DELETE FROM authors WHERE name = 'Ben';
  INSERT INTO names VALUES ('Fay');
  UPDATE books SET number = number + 10 WHERE author = 100;
  DELETE FROM notes WHERE rowid = 1; UPDATE notes SET line = 'changed; ' WHERE line = 'other';
  INSERT INTO "odd ""name" VALUES ('a/b,c', x'', -9223372036854775808), ('50%', 1e999, 9223372036854775807);
  INSERT INTO authors (id, name) VALUES (1000, 'Ada') ON CONFLICT (name) DO UPDATE SET any = 'upserted' -- the end`;

const TABLES = ["authors", "books", "history", "notes", `"odd ""name"`];

function everything(files: Files): string[] {
  const schema = files.sql("shop", "SELECT type, name, sql FROM sqlite_schema ORDER BY name");
  const rows = TABLES.flatMap((table) => {
    const columns = files.sql(
      "shop",
      `SELECT name FROM pragma_table_xinfo('${table.replaceAll(/^"|"$/g, "").replaceAll('""', '"')}')`,
    );
    const values = columns.map((name) => {
      const column = `"${name}"`;
      return `typeof(${column}) || CASE typeof(${column}) WHEN 'text' THEN hex(${column}) ELSE quote(${column}) END`;
    });
    return files.sql("shop", `SELECT ${values.join(", ")} FROM ${table}`).toSorted();
  });
  return [...schema, ...rows];
}

describe("what is recorded of a SQLite database", () => {
  it("is exactly what a commit publishes and an undo takes back, with triggers and cascades (R96)", async () => {
    const files = makeFiles({ shop: SCHEMA });
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    const before = everything(files);
    await sandbox.write("script", SCRIPT);
    expect(everything(files)).toEqual(before);
    const told = (await sandbox.diff()).changes.map(({ kind, path }) => `${kind} ${path}`);
    expect(told).toEqual(
      expect.arrayContaining([
        "deleted main.authors/1",
        "added main.authors/100",
        "deleted main.authors/2",
        "deleted main.books/1,1",
        "added main.books/100,11",
        "deleted main.books/2,1",
        "deleted main.notes/1",
        "modified main.notes/3",
        "added main.odd%20%22name/-9223372036854775808,a%2Fb%2Cc",
      ]),
    );
    const query = "SELECT id, weight, any, shout, low FROM authors ORDER BY id";
    const seen = Buffer.from(await sandbox.read(query)).toString();
    expect(seen).toContain('"any":"it\'s\\u0000zero"');
    const chances = "SELECT at, what, chance FROM history ORDER BY at";
    const history = rowsOf(await sandbox.read(chances));
    await sandbox.commit();
    const after = everything(files);
    expect(after.length).toBeGreaterThan(before.length);
    await sandbox.undoCommit();
    expect(everything(files)).toEqual(before);
    expect(Buffer.from(await sandbox.read(query)).toString()).toBe(seen);
    expect(rowsOf(await sandbox.read(chances))).toEqual(history);
    await sandbox.commit();
    expect(everything(files)).toEqual(after);
    files.sql("shop", "INSERT INTO authors (name) VALUES ('next')");
    expect(files.sql("shop", "SELECT id FROM authors WHERE name = 'next'")).toEqual(["1001"]);
  });

  it("has rows by their key, before and after, as one column a line (R96)", async () => {
    const files = makeFiles({ shop: SCHEMA });
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    await sandbox.write("one", "UPDATE authors SET any = 7 WHERE id = 3");
    const view = await sandbox.diff();
    expect(await view.text({ paths: ["main.authors"] })).toContain('- "any":5,\n+ "any":7,');
    const row = Buffer.from(await sandbox.read("main.authors/3")).toString("utf8");
    expect(row).toContain('"any":7');
    const [change] = view.changes.filter(({ path }) => path === "main.authors/3");
    expect(change?.after?.size).toBe(Buffer.byteLength(row));
    expect(rowsOf(await sandbox.read("main.books/1,2"))).toEqual({
      author: 1,
      number: 2,
      title: "Two",
    });
    const missing = sandbox.read("main.authors/77");
    await expect(missing).rejects.toBeInstanceOf(SandboxPathError);
    await expect(missing).rejects.toMatchObject({
      code: "SANDBOX_PATH",
      data: { reason: "missing" },
    });
  });

  it("has texts with every kind of line end, in rows, scripts and answers (R96)", async () => {
    const files = makeFiles({ shop: "CREATE TABLE posts (id INTEGER PRIMARY KEY, body TEXT)" });
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    const body = "a\u2028b\u2029c\r\nd\u0085e";
    await sandbox.write("w", `INSERT INTO posts VALUES (1, '${body}')`);
    await sandbox.write("w", "UPDATE posts SET id = 2");
    expect(rowsOf(await sandbox.read("SELECT body FROM posts"))).toEqual([{ body }]);
    await sandbox.commit();
    expect(files.sql("shop", "SELECT id FROM posts WHERE length(body) = 10")).toEqual(["2"]);
    // Node 20 takes them for parts of a line, newer ones for its end.
    expect(lineOf({ body })).not.toMatch(/[\u2028\u2029]/);
    expect(JSON.parse(lineOf({ body }))).toEqual({ body });
  });

  it("may be of a table with very many columns, or of one beside it (R96)", async () => {
    const names = Array.from({ length: 1500 }, (_, at) => `c${at}`);
    const files = makeFiles({
      shop: `CREATE TABLE wide (${names.join(", ")}); CREATE TABLE t (id INTEGER PRIMARY KEY)`,
    });
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    await sandbox.write(
      "w",
      "INSERT INTO wide (c0, c99, c100, c1499) VALUES (1, 2, 3, 4); INSERT INTO t VALUES (5)",
    );
    await sandbox.commit();
    const query = "SELECT c0, c99, c100, c1499, c1 IS NULL, (SELECT id FROM t) FROM wide";
    expect(files.sql("shop", query)).toEqual(["1|2|3|4|1|5"]);
    await sandbox.undoCommit();
    expect(files.sql("shop", "SELECT count(*) FROM wide")).toEqual(["0"]);
  });

  it("is refused where the script is no text", async () => {
    const files = makeFiles({ shop: "CREATE TABLE posts (id INTEGER PRIMARY KEY, body TEXT)" });
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    const script = Buffer.from("INSERT INTO posts VALUES (1, 'Caf\u00e9')", "latin1");
    await expect(sandbox.write("w", script)).rejects.toMatchObject({
      code: "DATABASE",
      data: { reason: "failed" },
      hint: expect.stringContaining("UTF-8") as string,
    });
    expect((await sandbox.diff()).isEmpty).toBe(true);
  });

  it("has every number to the last bit", async () => {
    const files = makeFiles({
      shop: "CREATE TABLE real (id INTEGER PRIMARY KEY, v); CREATE TABLE copy (id INTEGER PRIMARY KEY, v)",
    });
    const bits = new DataView(new ArrayBuffer(8));
    const source = new DatabaseSync(files.path("shop"));
    source.exec("BEGIN");
    const insert = source.prepare("INSERT INTO real (v) VALUES (?)");
    for (let n = 0; n < 3000; n += 1) {
      bits.setBigUint64(0, randomBytes(8).readBigUInt64BE());
      insert.run(bits.getFloat64(0));
      insert.run(bits.getBigInt64(0));
      insert.run(Math.round(Math.random() * 1e6) / 100);
    }
    source.exec("COMMIT");
    source.close();
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    await sandbox.write("copy", "INSERT INTO copy SELECT * FROM real");
    await sandbox.commit();
    const same =
      "SELECT count(*) FROM real JOIN copy USING (id) WHERE real.v IS copy.v AND typeof(real.v) = typeof(copy.v)";
    expect(files.sql("shop", same)).toEqual(["9000"]);
  });

  it.each([
    ["without triggers", ""],
    [
      "with triggers that see nothing of it",
      "CREATE TRIGGER see AFTER DELETE ON t BEGIN INSERT INTO seen VALUES (OLD.id); END",
    ],
  ])("has rows that SQLite replaces, %s", async (_what, triggers) => {
    const files = makeFiles({
      shop: `CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT REPLACE, v);
        CREATE TABLE seen (v); CREATE TABLE below (t REFERENCES t ON DELETE CASCADE);
        INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2); INSERT INTO below VALUES (2);; ${triggers}`,
    });
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    await sandbox.write(
      "both",
      "REPLACE INTO t VALUES (1, 'b', 9); INSERT INTO t VALUES (7, 'b', 10)",
    );
    const changes = (await sandbox.diff()).changes.map(({ kind, path }) => `${kind} ${path}`);
    expect(changes.toSorted()).toEqual([
      "added main.t/7",
      "deleted main.below/1",
      "deleted main.t/1",
      "deleted main.t/2",
    ]);
    await sandbox.commit();
    expect(files.sql("shop", "SELECT * FROM t")).toEqual(["7|b|10"]);
    expect(files.sql("shop", "SELECT * FROM below")).toEqual([]);
    expect(files.sql("shop", "SELECT v FROM seen")).toEqual([]);
    await sandbox.rollback();
    expect(files.sql("shop", "SELECT * FROM t")).toEqual(["1|a|1", "2|b|2"]);
  });
});

describe("what somebody else changed in a SQLite database", () => {
  it.each([
    ["a changed row", "UPDATE stock SET amount = 1 WHERE id = 2", "main.stock/2", "changed"],
    ["a row that is gone", "DELETE FROM stock WHERE id = 2", "main.stock/2", "missing"],
    ["a key that is taken", "INSERT INTO stock VALUES (9, 0)", "main.stock/9", "exists"],
    ["a value that is taken", "INSERT INTO stock VALUES (8, 9)", "main.stock/9", "exists"],
    [
      "a row that a cascade would reach",
      "INSERT INTO parts VALUES (7, 1)",
      "main.parts",
      "changed",
    ],
    ["another column", "ALTER TABLE stock ADD COLUMN place", "main.stock/2", "changed"],
    [
      "a table that is gone",
      "PRAGMA foreign_keys = OFF;; DROP TABLE stock",
      "main.stock",
      "missing",
    ],
  ])("refuses a commit over %s", async (_what, foreign, path, reason) => {
    const files = makeFiles({
      shop:
        "CREATE TABLE stock (id INTEGER PRIMARY KEY, amount INTEGER UNIQUE);" +
        "CREATE TABLE parts (id INTEGER PRIMARY KEY, stock REFERENCES stock ON DELETE CASCADE);" +
        "INSERT INTO stock VALUES (1, 10), (2, 20), (3, 30); INSERT INTO parts VALUES (1, 1)",
    });
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    await sandbox.write(
      "script",
      "UPDATE stock SET amount = amount + 1 WHERE id = 2; INSERT INTO stock VALUES (9, 9); DELETE FROM stock WHERE id = 1",
    );
    files.sql("shop", foreign);
    const committing = sandbox.commit();
    await expect(committing).rejects.toBeInstanceOf(SandboxConflictError);
    await expect(committing).rejects.toMatchObject({ code: "SANDBOX_CONFLICT" });
    const error = (await committing.catch((thrown: unknown) => thrown)) as SandboxConflictError;
    expect(error.data.originalRestored).toBe(true);
    expect(error.data.conflicts).toContainEqual(expect.objectContaining({ path, reason }));
    expect((await sandbox.describe()).status).toBe("ACTIVE");
    expect((await sandbox.diff()).isEmpty).toBe(false);
  });

  it("is left alone where the sandbox did not touch it", async () => {
    const files = makeFiles({
      shop: "CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 1), (2, 2)",
    });
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    await sandbox.write("one", "UPDATE t SET v = 0 WHERE id = 1");
    files.sql("shop", "UPDATE t SET v = 7 WHERE id = 2; INSERT INTO t VALUES (8, 8)");
    expect(rowsOf(await sandbox.read("SELECT v FROM t ORDER BY id"))).toEqual([
      { v: 0 },
      { v: 7 },
      { v: 8 },
    ]);
    await sandbox.commit();
    expect(files.sql("shop", "SELECT v FROM t ORDER BY id")).toEqual(["0", "7", "8"]);
  });
});
