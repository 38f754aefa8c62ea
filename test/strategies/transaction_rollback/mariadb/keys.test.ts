import { describe, expect, it } from "vitest";
import { SHOP, makeGround, rowsOf } from "../fixture.ts";
import { MARIADB, runServer } from "../servers.ts";

const on = runServer(MARIADB);

const PREFIXES = `
  CREATE TABLE words (k varchar(50), v int, PRIMARY KEY (k(3)));
  CREATE TABLE pairs (a int, k varbinary(50), v int, PRIMARY KEY (a, k(2)));
  INSERT INTO words VALUES ('abcdef', 1), ('xyz', 2);
  INSERT INTO pairs VALUES (1, 'aaa', 1), (1, 'bbb', 2), (2, 'aaa', 3)`;

describe("keys of beginnings of values in MariaDB", () => {
  it.each([
    ["the end of a value", "UPDATE words SET k = 'abcdeX' WHERE v = 1"],
    ["the end of a value in a key of two columns", "UPDATE pairs SET k = 'aaX' WHERE v = 1"],
    ["the beginning of a value", "UPDATE words SET k = 'other' WHERE v = 1"],
    [
      "beginnings that change places",
      "UPDATE words SET k = 'tmp' WHERE v = 1; UPDATE words SET k = 'abc' WHERE v = 2; UPDATE words SET k = 'xyz' WHERE v = 1",
    ],
    ["every end", "UPDATE words SET k = CONCAT(k, '!'), v = v + 10; UPDATE words SET v = v + 1"],
    [
      "rows that go and come",
      "DELETE FROM words WHERE k = 'xyz'; INSERT INTO words VALUES ('xyy', 4)",
    ],
    ["rows that are replaced", "REPLACE INTO words VALUES ('abcX', 9), ('new', 1)"],
    [
      "rows that were there already",
      "INSERT INTO pairs VALUES (1, 'bbX', 5), (3, 'c', 6) ON DUPLICATE KEY UPDATE k = 'bbY', v = 7",
    ],
  ])("%s: a commit publishes what was written, and an undo takes it back", async (_, script) => {
    const ground = makeGround(on.server, PREFIXES);
    const control = makeGround(on.server, PREFIXES);
    const rows = (one: typeof ground): string[] =>
      one.sql("SELECT * FROM words ORDER BY v; SELECT * FROM pairs ORDER BY v");
    const before = rows(ground);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("script.sql", script);
    expect(rows(ground)).toEqual(before);
    await sandbox.commit();
    control.sql(script);
    expect(rows(ground)).toEqual(rows(control));
    await sandbox.undoCommit();
    expect(rows(ground)).toEqual(before);
  });
});

it("rows are found by bits and inexact numbers in their keys (R96)", async () => {
  const ground = makeGround(
    on.server,
    `CREATE TABLE flags (a int, b bit(1), v int, PRIMARY KEY (a, b));
     CREATE TABLE masks (m bit(64) PRIMARY KEY, v int); CREATE TABLE shares (s float PRIMARY KEY, v int);
     INSERT INTO flags VALUES (1, 1, 1), (1, 0, 2), (2, 1, 3); INSERT INTO masks VALUES (~0, 1), (5, 2);
     INSERT INTO shares VALUES (0.1, 1), (1e30, 2)`,
  );
  const all = (): string[] =>
    ground.sql(
      "SELECT a, b + 0, v FROM flags ORDER BY a, b; SELECT m + 0, v FROM masks ORDER BY m; SELECT * FROM shares ORDER BY s",
    );
  const before = all();
  await using cofferdam = await ground.open();
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  await sandbox.write(
    "script.sql",
    `UPDATE flags SET v = v + 10 WHERE b = 1; DELETE FROM flags WHERE b = 0; INSERT INTO flags VALUES (7, 0, 7);
     REPLACE INTO flags VALUES (2, b'1', 20); UPDATE masks SET v = 9; INSERT INTO masks VALUES (6, 6), (5, 5) ON DUPLICATE KEY UPDATE v = 55;
     UPDATE shares SET v = v + 1; UPDATE flags SET b = 1 WHERE a = 7`,
  );
  expect(rowsOf(await sandbox.read(`${ground.schema}.flags/7,1`))).toEqual({ a: 7, b: 1, v: 7 });
  await sandbox.commit();
  expect(all()).toEqual([
    "1|1|11",
    "2|1|20",
    "7|1|7",
    "5|55",
    "6|6",
    "18446744073709551615|9",
    "0.1|2",
    "1e30|3",
  ]);
  await sandbox.undoCommit();
  expect(all()).toEqual(before);
});
