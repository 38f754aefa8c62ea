import { expect, it } from "vitest";
import { type Ground, SHOP, makeGround } from "../fixture.ts";
import { MARIADB, runServer } from "../servers.ts";

const on = runServer(MARIADB);

const SETUP = `
  CREATE TABLE orders (id int PRIMARY KEY, name varchar(20), created date, y int, n int DEFAULT 0);
  CREATE TABLE items (id int PRIMARY KEY, \`order\` int, \`from\` varchar(20), n int DEFAULT 0);
  CREATE TABLE dated (id int PRIMARY KEY, name varchar(20), created date, y int);
  CREATE TABLE totals (id int PRIMARY KEY, n int);
  INSERT INTO orders VALUES (1, 'xxAdaxx', '2001-05-06', NULL, 0), (2, 'Ben', '2002-05-06', NULL, 0);
  INSERT INTO items VALUES (1, 1, 'here', 3), (2, 1, 'there', 4), (3, 2, 'here', 5);
  DELIMITER //
  CREATE TRIGGER y BEFORE INSERT ON dated FOR EACH ROW
    SET NEW.y = EXTRACT(YEAR FROM NEW.created), NEW.name = SUBSTRING(TRIM(BOTH 'x' FROM NEW.name) FROM 1 FOR 10) //
  CREATE TRIGGER counted AFTER INSERT ON dated FOR EACH ROW BEGIN
    DECLARE found int;
    SELECT o.n, 1 INTO found, @one FROM orders o WHERE o.id = NEW.id FOR UPDATE;
    IF NEW.y > 0 THEN
      INSERT INTO totals VALUES (EXTRACT(YEAR FROM NEW.created), found) ON DUPLICATE KEY UPDATE totals.n = totals.n + 1, totals.id = totals.id;
    END IF;
    INSERT INTO totals SELECT i.id, i.n FROM items i ON DUPLICATE KEY UPDATE totals.n = totals.n + 1, totals.id = totals.id;
    UPDATE orders o, items i SET o.n = i.n WHERE i.\`order\` = o.id AND o.id = NEW.id AND REPLACE(NEW.name, 'a', i.from) <> i.from;
  END //
  DELIMITER ;`;

const ALL =
  "SELECT * FROM orders; SELECT * FROM items; SELECT * FROM dated; SELECT * FROM totals ORDER BY id";

async function everythingAfter(ground: Ground, script: string): Promise<string[]> {
  const before = ground.sql(ALL);
  await using cofferdam = await ground.open();
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  await sandbox.write("one", script);
  await sandbox.commit();
  const after = ground.sql(ALL);
  await sandbox.undoCommit();
  expect(ground.sql(ALL)).toEqual(before);
  return after;
}

it.each([
  [
    "those of a trigger's row",
    "INSERT INTO dated (id, name, created) VALUES (1, 'xEvex', '2003-01-01'), (2, 'Fay', '2003-02-02')",
  ],
  [
    "those of joined tables",
    "UPDATE orders o JOIN items i ON i.order = o.id SET o.y = EXTRACT(YEAR FROM o.created), i.n = o.id + i.n",
  ],
  [
    "those that are trimmed",
    "UPDATE orders, items SET orders.name = TRIM(BOTH 'x' FROM orders.name), items.from = SUBSTRING(items.from FROM 2) WHERE orders.id = items.order",
  ],
  [
    "those of a row that was there already",
    "INSERT INTO totals VALUES (2003, 1); INSERT INTO totals VALUES (2003, 5), (2004, 1) ON DUPLICATE KEY UPDATE totals.n = totals.n + 2",
  ],
  [
    "those with the name of a word of SQL",
    "UPDATE items AS i JOIN orders AS o ON i.order = o.id AND i.from = 'here' SET i.from = o.name, o.n = i.n",
  ],
  [
    "those of a table that has two names",
    "UPDATE items i JOIN items j ON i.id = j.id + 1 SET i.n = i.n + 10, j.n = j.n + 100",
  ],
  [
    "those that tell what to delete",
    "DELETE FROM i.*, o.* USING items i, orders o WHERE i.order = o.id AND o.id = 2",
  ],
])("columns after the name of a table are no other database: %s", async (_, script) => {
  const [ground, control] = [makeGround(on.server, SETUP), makeGround(on.server, SETUP)];
  control.sql(script);
  expect(await everythingAfter(ground, script)).toEqual(control.sql(ALL));
});
