import { describe, expect, it } from "vitest";
import { SandboxConflictError } from "../../../../src/index.ts";
import { makeFiles } from "./ground.ts";

/** A trigger of its own makes the sandbox look for rows that are replaced unseen. */
const TRIGGER =
  "CREATE TABLE l(x); CREATE TRIGGER tg AFTER INSERT ON l BEGIN INSERT INTO l SELECT 1 WHERE NEW.x = 0; END";

describe("a cascade in a SQLite database with triggers", () => {
  it.each([
    [
      "a column has a name like REPLACE",
      "replaced_by INT, replace TEXT DEFAULT (replace('a', 'a', 'b'))",
    ],
    ["a column is unique ON CONFLICT REPLACE", "n INT UNIQUE ON CONFLICT REPLACE, m INT"],
  ])("is recorded where %s", async (_, columns) => {
    const files = makeFiles({
      shop: `CREATE TABLE p(a INT PRIMARY KEY, ${columns});
        CREATE TABLE c(id INTEGER PRIMARY KEY, a INT REFERENCES p ON UPDATE CASCADE ON DELETE CASCADE);
        INSERT INTO p(a) VALUES (1), (5); INSERT INTO c VALUES (1, 1), (2, 5);; ${TRIGGER}`,
    });
    const all = (): string[] =>
      files.sql("shop", "SELECT 'p', a FROM p UNION ALL SELECT 'c' || id, a FROM c ORDER BY 1, 2");
    const before = all();
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    await sandbox.write("script", "UPDATE p SET a = 2 WHERE a = 1; DELETE FROM p WHERE a = 5");
    await sandbox.commit();
    expect(all()).toEqual(["c1|2", "p|2"]);
    await sandbox.undoCommit();
    expect(all()).toEqual(before);
  });
});

describe("keys of a SQLite database that compare as equal", () => {
  const KEYS = [
    ["NOCASE", "Foo", "FOO"],
    ["RTRIM", "foo", "foo  "],
  ] as const;
  const SCRIPTS = [
    ["INSERT OR REPLACE", (key: string) => `INSERT OR REPLACE INTO t VALUES ('${key}', 2)`],
    [
      "DELETE and INSERT",
      (key: string) => `DELETE FROM t WHERE n = 1; INSERT INTO t VALUES ('${key}', 2)`,
    ],
    ["UPDATE", (key: string) => `UPDATE t SET name = '${key}', n = 2`],
  ] as const;
  const cases = KEYS.flatMap(([collation, old, now]) =>
    SCRIPTS.map(([what, script]) => ({ collation, old, now, what, script: script(now) })),
  );

  it.each(cases)(
    "by $collation are exchanged by $what, committed and taken back",
    async ({ collation, old, now, script }) => {
      const files = makeFiles({
        shop: `CREATE TABLE t(name TEXT COLLATE ${collation} PRIMARY KEY, n INT); INSERT INTO t VALUES ('${old}', 1)`,
      });
      await using cofferdam = await files.open();
      const sandbox = await files.sandbox(cofferdam);
      await sandbox.write("script", script);
      await sandbox.read("SELECT * FROM t");
      await sandbox.commit();
      expect(files.sql("shop", "SELECT name, n FROM t")).toEqual([`${now}|2`]);
      await sandbox.undoCommit();
      expect(files.sql("shop", "SELECT name, n FROM t")).toEqual([`${old}|1`]);
    },
  );

  it("are a conflict where somebody else took the other spelling", async () => {
    const files = makeFiles({
      shop: "CREATE TABLE t(name TEXT COLLATE NOCASE PRIMARY KEY, n INT)",
    });
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    await sandbox.write("script", "INSERT INTO t VALUES ('foo', 1)");
    files.sql("shop", "INSERT INTO t VALUES ('FOO', 2)");
    const error: unknown = await sandbox.commit().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SandboxConflictError);
    expect((error as SandboxConflictError).data.conflicts).toMatchObject([
      { path: "main.t/foo", reason: "exists" },
    ]);
    expect(files.sql("shop", "SELECT name, n FROM t")).toEqual(["FOO|2"]);
  });
});
