import { copyFileSync } from "node:fs";
import { expect, it } from "vitest";
import { DatabaseError } from "../../../../src/index.ts";
import { sqlite3 } from "../../../support/sqlite3.ts";
import { dump, runIn } from "./command.ts";
import { makeFiles } from "./ground.ts";

const PARENTS = `CREATE TABLE parents(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
  CREATE TABLE children(id INTEGER PRIMARY KEY, parent REFERENCES parents(id) ON DELETE CASCADE ON UPDATE CASCADE);
  CREATE TABLE friends(id INTEGER PRIMARY KEY, parent REFERENCES parents(id) ON DELETE SET NULL);
  INSERT INTO parents VALUES (1, 'a'), (2, 'b'), (3, 'c');
  INSERT INTO children VALUES (1, 1), (2, 1), (3, 2);
  INSERT INTO friends VALUES (1, 1), (2, 3)`;
const AUDITED = `CREATE TABLE jobs(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, size INTEGER,
    twice INTEGER AS (size * 2) STORED, thrice INTEGER AS (size * 3));
  CREATE TABLE audit(at INTEGER PRIMARY KEY, what TEXT);
  CREATE TRIGGER added AFTER INSERT ON jobs BEGIN INSERT INTO audit(what) VALUES ('add ' || NEW.id); END;
  CREATE TRIGGER changed AFTER UPDATE ON jobs BEGIN INSERT INTO audit(what) VALUES ('change ' || NEW.id); END;
  INSERT INTO jobs(name, size) VALUES ('a', 1), ('b', 2)`;
const NUMBERS = `CREATE TABLE numbers(id INTEGER PRIMARY KEY, n INTEGER UNIQUE);
  INSERT INTO numbers VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)`;

/** Edits of rows, which a commit can take back. */
const ROWS: readonly (readonly [what: string, setup: string, statements: string])[] = [
  [
    "rows with triggers, generated columns and numbers that are never used again",
    AUDITED,
    "INSERT INTO jobs(name, size) VALUES ('c', 7), ('d', 8); UPDATE jobs SET size = 5 WHERE id = 1; DELETE FROM jobs WHERE id = 4",
  ],
  [
    "rows that are deleted by a foreign key",
    PARENTS,
    "DELETE FROM parents WHERE id = 1; UPDATE friends SET parent = 2 WHERE id = 2",
  ],
  [
    "a parent that gets another key, and takes its children along",
    PARENTS,
    "UPDATE parents SET id = 10 WHERE id = 2",
  ],
  [
    "children that get another parent before theirs goes",
    PARENTS,
    "UPDATE children SET parent = 2; DELETE FROM parents WHERE id IN (1, 3); INSERT INTO parents VALUES (1, 'c')",
  ],
  [
    "unique values that change places",
    NUMBERS,
    "UPDATE numbers SET n = -n WHERE id < 4; UPDATE numbers SET n = 3 WHERE id = 1; UPDATE numbers SET n = 1 WHERE id = 2; UPDATE numbers SET n = 2 WHERE id = 3",
  ],
  [
    "unique values of parents that change places, while children cling to them",
    PARENTS,
    "UPDATE parents SET name = 'x' WHERE id = 1; UPDATE parents SET name = 'a' WHERE id = 2; UPDATE parents SET name = 'b' WHERE id = 1",
  ],
  [
    "unique values that move up",
    NUMBERS,
    "UPDATE numbers SET n = -n - 1; UPDATE numbers SET n = -n",
  ],
  [
    "tables without rowid, without a key, and with keys that ignore case",
    `CREATE TABLE pairs(a TEXT, b INTEGER, v, PRIMARY KEY (b, a)) WITHOUT ROWID;
     CREATE TABLE loose(v); CREATE TABLE names(name TEXT COLLATE NOCASE PRIMARY KEY, v TEXT COLLATE NOCASE);
     INSERT INTO pairs VALUES ('x', 1, 1), ('y', 1, 2); INSERT INTO loose VALUES (1), (1), ('same');
     INSERT INTO names VALUES ('ann', 'v'), ('bob', 'v')`,
    `UPDATE pairs SET v = '1' WHERE a = 'x'; INSERT INTO pairs VALUES ('x', 2, x'00ff'); DELETE FROM loose WHERE rowid = 2;
     INSERT INTO loose VALUES (char(0) || 'zero'); UPDATE names SET name = 'ANN', v = 'V' WHERE name = 'ann'`,
  ],
  [
    "values that differ by their type alone",
    "CREATE TABLE any(id INTEGER PRIMARY KEY, v); INSERT INTO any VALUES (1, 1), (2, '1'), (3, 1.5), (4, NULL), (5, 9007199254740993), (6, '')",
    "UPDATE any SET v = '1' WHERE id = 1; UPDATE any SET v = 1.0 WHERE id = 2; UPDATE any SET v = x'31' WHERE id = 3; UPDATE any SET v = '' WHERE id = 4; UPDATE any SET v = v + 1 WHERE id = 5; UPDATE any SET v = x'' WHERE id = 6",
  ],
];

/** Edits of the schema, which a commit cannot take back. */
const SCHEMAS: readonly (readonly [what: string, setup: string, statements: string])[] = [
  [
    "new tables, indexes, views and triggers",
    AUDITED,
    `CREATE TABLE notes(id INTEGER PRIMARY KEY, text); INSERT INTO notes VALUES (1, 'new');
     CREATE UNIQUE INDEX named ON jobs(name); CREATE VIEW sizes AS SELECT size FROM jobs;
     CREATE TRIGGER noted AFTER INSERT ON notes BEGIN DELETE FROM audit; END; PRAGMA user_version = 7; PRAGMA application_id = -3`,
  ],
  [
    "columns that are added, with values",
    `${AUDITED}; CREATE INDEX sized ON jobs(size)`,
    `ALTER TABLE jobs ADD COLUMN note TEXT DEFAULT 'a,b)''c'; ALTER TABLE jobs ADD COLUMN other INTEGER NOT NULL DEFAULT 3;
     UPDATE jobs SET note = 'set' WHERE id = 2; INSERT INTO jobs(name, other) VALUES ('e', 4)`,
  ],
  [
    "columns that are dropped or renamed, and tables with another name",
    `${PARENTS}; CREATE VIEW named AS SELECT name FROM parents; CREATE TABLE old(a, b, c); INSERT INTO old VALUES (1, 2, 3)`,
    `ALTER TABLE old DROP COLUMN b; ALTER TABLE parents RENAME COLUMN name TO title; ALTER TABLE friends RENAME TO mates;
     UPDATE parents SET title = 'A' WHERE id = 1`,
  ],
  [
    "tables, indexes, views and triggers that are dropped",
    `${AUDITED}; CREATE INDEX sized ON jobs(size); CREATE VIEW sizes AS SELECT size FROM jobs;
     CREATE TRIGGER seen INSTEAD OF INSERT ON sizes BEGIN DELETE FROM audit; END`,
    "DROP TRIGGER changed; DROP VIEW sizes; DROP INDEX sized; DROP TRIGGER added; DROP TABLE audit; DELETE FROM jobs WHERE id = 1",
  ],
  [
    "a table that is made anew, as tools for migrations do",
    `${AUDITED}; CREATE INDEX sized ON jobs(size)`,
    `CREATE TABLE fresh(id INTEGER PRIMARY KEY, name TEXT NOT NULL, size TEXT CHECK (size <> ''));
     INSERT INTO fresh SELECT id, name, size FROM jobs; DROP TABLE jobs; ALTER TABLE fresh RENAME TO jobs; CREATE INDEX sized ON jobs(size)`,
  ],
  ["all tables at once", PARENTS, "DROP TABLE friends; DROP TABLE children; DROP TABLE parents"],
];

it.each(ROWS)(
  "a commit publishes %s as the command left them, and an undo takes them back",
  async (_, setup, statements) => {
    const files = makeFiles({ shop: setup });
    const control = `${files.path("shop")}.control`;
    copyFileSync(files.path("shop"), control);
    const before = dump(control);
    sqlite3(control, statements);
    await using ran = await runIn(files, statements);
    expect(dump(files.path("shop"))).toEqual(before);
    await ran.plan.commit();
    expect(dump(files.path("shop"))).toEqual(dump(control));
    await ran.plan.undo();
    expect(withoutNumbers(dump(files.path("shop")))).toEqual(withoutNumbers(before));
  },
);

it.each(SCHEMAS)("a commit publishes %s", async (_, setup, statements) => {
  const files = makeFiles({ shop: setup });
  const control = `${files.path("shop")}.control`;
  copyFileSync(files.path("shop"), control);
  sqlite3(control, statements);
  await using ran = await runIn(files, statements);
  await ran.plan.commit();
  expect(dump(files.path("shop"))).toEqual(dump(control));
});

it.each([
  ["virtual tables", "CREATE VIRTUAL TABLE words USING fts5(text)"],
  ["rows that have no key", "INSERT INTO loose VALUES (NULL, 1)"],
])("%s cannot be taken, and the error says where they are", async (_, statements) => {
  const files = makeFiles({ shop: "CREATE TABLE loose(id TEXT PRIMARY KEY, v)" });
  const error: unknown = await runIn(files, statements).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(DatabaseError);
  expect(error).toMatchObject({ code: "DATABASE", data: { reason: "notCaptured" } });
  const { keptAt = "" } = (error as DatabaseError).data;
  const control = `${files.path("shop")}.control`;
  copyFileSync(files.path("shop"), control);
  sqlite3(control, statements);
  expect(dump(keptAt)).toEqual(dump(control));
});

it("values that change places and can never be NULL, below children, are taken in two commands", async () => {
  const setup = PARENTS.replace("name TEXT UNIQUE", "name TEXT NOT NULL UNIQUE");
  const [first, rest] = [
    "UPDATE parents SET name = 'x' WHERE id = 1",
    "UPDATE parents SET name = 'a' WHERE id = 2; UPDATE parents SET name = 'b' WHERE id = 1",
  ];
  const files = makeFiles({ shop: setup });
  const error: unknown = await runIn(files, `${first}; ${rest}`).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "DATABASE", data: { reason: "notCaptured" } });
  for (const statements of [first, rest])
    await (await runIn(files, statements))[Symbol.asyncDispose]();
  await using cofferdam = await files.open();
  await (await cofferdam.plan("plan")).commit();
  expect(
    sqlite3(files.path("shop"), "SELECT * FROM parents; SELECT count(*) FROM children"),
  ).toEqual(["1|b", "2|a", "3|c", "3"]);
});

it("statistics that a program makes on its way out are no change", async () => {
  const files = makeFiles({ shop: `${NUMBERS}; CREATE INDEX odd ON numbers(n)` });
  await using ran = await runIn(files, "ANALYZE; PRAGMA journal_mode = WAL");
  expect((await ran.plan.diff()).isEmpty).toBe(true);
});

/** An undo leaves the last numbers of AUTOINCREMENT where they are. */
function withoutNumbers(lines: readonly string[]): string[] {
  return lines.filter((line) => !line.includes("sqlite_sequence"));
}
