import { describe, expect, it } from "vitest";
import { SHOP, makeGround } from "../fixture.ts";
import { MARIADB, runServer } from "../servers.ts";

const on = runServer(MARIADB);

const ROWS = "SELECT seq, CONCAT('name ', seq), 0 FROM seq_1_to_12000";
const TWO_KEYS = `CREATE TABLE big (id int PRIMARY KEY, name varchar(20) UNIQUE, n int); INSERT INTO big ${ROWS}`;
const PARENT = `CREATE TABLE big (id int PRIMARY KEY, name varchar(20), n int); INSERT INTO big ${ROWS};
  CREATE TABLE parts (id int PRIMARY KEY, big int, FOREIGN KEY (big) REFERENCES big (id) ON DELETE CASCADE);
  CREATE TABLE covers (id int PRIMARY KEY, big int, FOREIGN KEY (big) REFERENCES big (id) ON DELETE SET NULL);
  INSERT INTO parts SELECT id, id FROM big; INSERT INTO covers SELECT id, id FROM big`;
const LONG_KEY = `CREATE TABLE big (id int PRIMARY KEY, name text UNIQUE, n int); INSERT INTO big ${ROWS}`;

describe("REPLACE in MariaDB, on tables too large to be looked at as a whole", () => {
  it.each([
    ["a second key", TWO_KEYS, "REPLACE INTO big (id, name, n) VALUES (10, 'name 10', 10)"],
    [
      "a second key, a row as it was",
      TWO_KEYS,
      "REPLACE INTO big VALUES (10, 'name 10', 0), (11, 'y', 1)",
    ],
    [
      "a second key, rows in the way of both",
      TWO_KEYS,
      "REPLACE INTO big VALUES (10, 'name 11', 1), (20000, 'name 12', 2), (13, 'new', 3), (20001, 'more', 4)",
    ],
    [
      "a second key, a row that makes room",
      TWO_KEYS,
      "REPLACE INTO big VALUES (20000, 'name 10', 1), (10, 'name 20000', 2), (9, 'name 9', 0)",
    ],
    [
      "rows that refer to it",
      PARENT,
      "REPLACE INTO big VALUES (10, 'x', 1), (11, 'name 11', 0), (20000, 'y', 2)",
    ],
    ["a long key", LONG_KEY, "REPLACE INTO big VALUES (10, 'x', 1)"],
  ])("works by key: %s", async (_, setup, script) => {
    const [ground, control] = [makeGround(on.server, setup), makeGround(on.server, setup)];
    const tables = setup === PARENT ? ["big", "parts", "covers"] : ["big"];
    const all = (one: typeof ground): string[] =>
      tables.flatMap((table) => one.sql(`SELECT * FROM ${table} ORDER BY id`));
    const before = all(ground);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("one", script);
    await sandbox.commit();
    control.sql(script);
    expect(all(ground)).toEqual(all(control));
    await sandbox.undoCommit();
    expect(all(ground)).toEqual(before);
  });

  it.each([
    [
      "a cascade reaches rows without a key",
      `${TWO_KEYS}; CREATE TABLE bag (big int, FOREIGN KEY (big) REFERENCES big (id) ON DELETE CASCADE);
       INSERT INTO bag VALUES (10), (11)`,
      "REPLACE INTO big VALUES (10, 'name 10', 0), (11, 'name 11', 5)",
    ],
    [
      "the beginning of a value is in the way",
      `CREATE TABLE big (id int PRIMARY KEY, name varchar(20), n int, UNIQUE (name(10))); INSERT INTO big ${ROWS}`,
      "REPLACE INTO big VALUES (10, 'name 10', 5), (11, 'name 10000 is longer', 5)",
    ],
    [
      "it gives other rows each time",
      TWO_KEYS,
      "REPLACE INTO big SELECT 20000 + seq, CONCAT('name ', 1 + FLOOR(RAND() * 12000)), 1 FROM seq_1_to_20 UNION ALL SELECT 10, 'x', 0",
    ],
  ])("is refused where not every row could be found: %s", async (_, setup, script) => {
    const ground = makeGround(on.server, setup);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await expect(sandbox.write("one", script)).rejects.toMatchObject({
      code: "DATABASE",
      data: { reason: "notCaptured", position: 1 },
    });
    expect((await sandbox.diff()).isEmpty).toBe(true);
  });
});
