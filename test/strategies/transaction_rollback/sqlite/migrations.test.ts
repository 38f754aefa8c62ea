import { copyFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { SandboxConflictError } from "../../../../src/index.ts";
import { sqlite3 } from "../../../support/sqlite3.ts";
import { dump, runIn } from "./command.ts";
import { makeFiles } from "./ground.ts";

const USERS = `CREATE TABLE u(id INTEGER PRIMARY KEY, name TEXT, age INT, note TEXT);
  CREATE TABLE o(id INTEGER PRIMARY KEY, uid INT REFERENCES u(id) ON DELETE CASCADE);
  CREATE TABLE p(id INTEGER PRIMARY KEY, o INT REFERENCES o ON DELETE SET NULL);
  CREATE TABLE seen(what);
  CREATE TRIGGER gone AFTER DELETE ON o BEGIN INSERT INTO seen VALUES (OLD.id); END;
  INSERT INTO u VALUES (1, 'a', 30, 'x'), (2, 'b', 40, NULL); INSERT INTO o VALUES (1, 1); INSERT INTO p VALUES (1, 1)`;
/** What somebody else does before the commit, as the old schema has it. */
const FOREIGN = `INSERT INTO u VALUES (7, 'foreign', 1, 'n'); UPDATE u SET name = 'changed' WHERE id = 1;
  INSERT INTO o VALUES (7, 7), (8, 1); INSERT INTO p VALUES (7, 1)`;

describe("several ALTER TABLE of a command", () => {
  it.each([
    [
      "a renamed and an added column",
      "ALTER TABLE u RENAME COLUMN name TO nm; ALTER TABLE u ADD COLUMN z INT DEFAULT 3",
    ],
    [
      "renamed, dropped and added columns",
      `ALTER TABLE u DROP COLUMN age; ALTER TABLE u RENAME COLUMN name TO "the name"; ALTER TABLE u ADD COLUMN z TEXT;
       ALTER TABLE u RENAME COLUMN note TO remark; ALTER TABLE u ADD COLUMN y NOT NULL DEFAULT 'a, (b'`,
    ],
    [
      "a key that is renamed, with what refers to it",
      "ALTER TABLE u RENAME COLUMN id TO uid; ALTER TABLE u ADD COLUMN z; ALTER TABLE o RENAME COLUMN uid TO owner; ALTER TABLE o ADD COLUMN w",
    ],
    [
      "a dropped column, and one of the same kind in its place",
      "ALTER TABLE u DROP COLUMN note; ALTER TABLE u ADD COLUMN other TEXT; ALTER TABLE u DROP COLUMN age",
    ],
  ])("such as %s lose no row of somebody else", async (_, statements) => {
    const files = makeFiles({ shop: USERS });
    const control = `${files.path("shop")}.control`;
    copyFileSync(files.path("shop"), control);
    await using ran = await runIn(files, statements);
    const { changes } = await ran.plan.sandbox("shop").diff();
    expect(changes.map(({ path }) => path).every((path) => path.includes("schema-changes"))).toBe(
      true,
    );
    sqlite3(files.path("shop"), FOREIGN);
    await ran.plan.commit();
    sqlite3(control, FOREIGN);
    sqlite3(control, statements);
    expect(dump(files.path("shop"))).toEqual(dump(control));
  });
});

const ANEW = `PRAGMA foreign_keys = OFF; CREATE TABLE fresh(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age TEXT);
  INSERT INTO fresh SELECT id, name, age FROM u; DROP TABLE u; ALTER TABLE fresh RENAME TO u`;

describe("a table that a command makes anew", () => {
  it.each([
    ["", USERS],
    [", in WAL mode", `PRAGMA journal_mode = WAL;; ${USERS}`],
  ])("takes nothing from tables that refer to it, whoever wrote there%s", async (_, setup) => {
    const files = makeFiles({ shop: setup });
    await (await runIn(files, ANEW))[Symbol.asyncDispose]();
    await using ran = await runIn(files, "INSERT INTO o VALUES (9, 2)");
    const paths = (await ran.plan.sandbox("shop").diff()).changes.map(({ path }) => path);
    expect(paths.filter((path) => /main\.(?:o|p|seen)/.test(path))).toEqual(["main.o/9"]);
    sqlite3(files.path("shop"), "INSERT INTO o VALUES (7, 2); INSERT INTO p VALUES (7, 1)");
    await ran.plan.commit();
    const left = sqlite3(
      files.path("shop"),
      "SELECT * FROM u; SELECT * FROM o; SELECT * FROM p; SELECT * FROM seen; PRAGMA foreign_key_check",
    );
    expect(left).toEqual(["1|a|30", "2|b|40", "1|1", "7|2", "9|2", "1|1", "7|1"]);
    const trigger = "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'";
    expect(sqlite3(files.path("shop"), trigger)).toEqual(["1"]);
  });

  it.each([
    ["a row that came", "INSERT INTO u VALUES (7, 'foreign', 1, 'n')"],
    ["a row that changed", "UPDATE u SET note = 'y' WHERE id = 2"],
    ["a row that went", "DELETE FROM u WHERE id = 2"],
    ["a new column", "ALTER TABLE u ADD COLUMN more"],
    ["a new index", "CREATE INDEX named ON u(name)"],
  ])("is a conflict where somebody else left %s in it", async (_, foreign) => {
    const files = makeFiles({ shop: USERS });
    await using ran = await runIn(files, ANEW);
    sqlite3(files.path("shop"), foreign);
    const before = dump(files.path("shop"));
    const error: unknown = await ran.plan
      .sandbox("shop")
      .commit()
      .catch((thrown: unknown) => thrown);
    expect(conflictPaths(error)).toEqual(["main.u"]);
    expect(dump(files.path("shop"))).toEqual(before);
  });
});

describe("a table that is dropped", () => {
  const DROPPED =
    "CREATE TABLE u(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO u VALUES (1, 'a')";

  it.each([
    [
      "to be replaced by a copy",
      "CREATE TABLE u2(id INTEGER PRIMARY KEY, name TEXT NOT NULL); INSERT INTO u2 SELECT * FROM u; DROP TABLE u; ALTER TABLE u2 RENAME TO u",
      [`CREATE TABLE "u"(id INTEGER PRIMARY KEY, name TEXT NOT NULL)`],
    ],
    ["for good", `DROP TABLE IF EXISTS main . "u"`, []],
    ["after a change of its own", "UPDATE u SET name = 'b'; DROP TABLE [u]", []],
  ])("%s by a script is a conflict where somebody else wrote into it", async (_, script, left) => {
    const files = makeFiles({ shop: DROPPED });
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    await sandbox.write("script", script);
    await sandbox.read("SELECT 1");
    sqlite3(files.path("shop"), "INSERT INTO u VALUES (2, 'foreign')");
    for (const call of [sandbox.commit(), sandbox.read("SELECT 1")]) {
      const error: unknown = await call.catch((thrown: unknown) => thrown);
      expect(conflictPaths(error)).toEqual(["main.u"]);
    }
    sqlite3(files.path("shop"), "DELETE FROM u WHERE id = 2");
    await sandbox.commit();
    expect(sqlite3(files.path("shop"), "SELECT sql FROM sqlite_schema")).toEqual(left);
  });

  it("is a conflict where there was none when the script ran", async () => {
    const files = makeFiles({ shop: DROPPED });
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    await sandbox.write("script", "DROP TABLE IF EXISTS later");
    sqlite3(files.path("shop"), "CREATE TABLE later(a)");
    const error: unknown = await sandbox.commit().catch((thrown: unknown) => thrown);
    expect(conflictPaths(error)).toEqual(["main.later"]);
  });

  it("by a command takes along no row that somebody else put below it", async () => {
    const files = makeFiles({ shop: USERS });
    await using ran = await runIn(files, "DROP TRIGGER gone; DROP TABLE u");
    sqlite3(files.path("shop"), "INSERT INTO o VALUES (7, 2)");
    const before = dump(files.path("shop"));
    const error: unknown = await ran.plan
      .sandbox("shop")
      .commit()
      .catch((thrown: unknown) => thrown);
    expect(conflictPaths(error)).toEqual(["main.o"]);
    expect(dump(files.path("shop"))).toEqual(before);
  });
});

function conflictPaths(error: unknown): readonly string[] {
  expect(error).toBeInstanceOf(SandboxConflictError);
  return (error as SandboxConflictError).data.conflicts.map(({ path }) => path);
}
