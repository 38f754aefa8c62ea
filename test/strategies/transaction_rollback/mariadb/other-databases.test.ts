import { describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../support/database-server.ts";
import { type Ground, SHOP, makeGround } from "../fixture.ts";
import { MARIADB, runServer } from "../servers.ts";

const on = runServer(MARIADB);

const SETUP = `
  CREATE TABLE orders (id int PRIMARY KEY, sku int, state varchar(9), n int DEFAULT 0);
  CREATE TABLE sales (id int PRIMARY KEY);
  INSERT INTO orders (id, sku, state) VALUES (1, 7, 'open'), (2, 8, 'open')`;
const STOCK =
  "CREATE TABLE stock (sku int PRIMARY KEY, n int); INSERT INTO stock VALUES (7, 5), (8, 5)";

/** A database whose user may work in another one too, with views and a trigger that lead there. */
function makePair(): { readonly ground: Ground; readonly other: TestDatabase } {
  const ground = makeGround(on.server, SETUP);
  const other = on.server.createDatabase();
  on.server.sql(other, STOCK);
  const user = `${ground.database.role}@'127.0.0.1'`;
  on.server.sql("mysql", `GRANT ALL ON ${other.name}.* TO ${user}`);
  ground.sql(
    `CREATE VIEW far AS SELECT s.sku, s.n FROM (${other.name}.stock s JOIN orders o ON o.sku = s.sku);
     CREATE TRIGGER sold AFTER INSERT ON sales FOR EACH ROW
       UPDATE orders o, ${other.name}.stock s SET o.state = 'paid', s.n = s.n - 1 WHERE o.sku = s.sku`,
  );
  return { ground, other };
}

describe("tables in another database of a MariaDB", () => {
  it.each([
    "UPDATE orders, OTHER.stock SET orders.state = 'paid', stock.n = stock.n - 1 WHERE orders.sku = stock.sku",
    "UPDATE (orders o, `OTHER` . `stock` s) SET o.state = 'paid', s.n = 0 WHERE o.sku = s.sku",
    "UPDATE (OTHER.stock s JOIN orders o ON o.sku = s.sku) SET o.state = 'paid', s.n = 0",
    "UPDATE orders o JOIN orders p ON o.id = p.id AND p.sku IN (7, 8), OTHER.stock s SET o.state = 'paid', s.n = 0 WHERE o.sku = s.sku",
    "UPDATE orders o USE INDEX FOR ORDER BY (PRIMARY), OTHER.stock s SET o.state = 'paid', s.n = 0 WHERE o.sku = s.sku",
    "UPDATE orders o JOIN (SELECT 7 AS sku LIMIT 1) l ON o.sku = l.sku AND 1 = 1.JOIN OTHER.stock s ON s.sku = l.sku SET o.state = 'paid', s.n = 0",
    "UPDATE orders o JOIN (SELECT 7 AS sku LIMIT 1) l ON o.sku = l.sku AND 1 < 1.5JOIN OTHER.stock s ON s.sku = l.sku SET o.state = 'paid', s.n = 0",
    "UPDATE orders o JOIN (SELECT 7 AS sku LIMIT 1) l ON o.sku = l.sku AND 0 < .5JOIN OTHER.stock s ON s.sku = l.sku SET o.state = 'paid', s.n = 0",
    "UPDATE { OJ OTHER.stock s LEFT OUTER JOIN orders o ON o.sku = s.sku } SET o.state = 'paid', s.n = 0",
    "DELETE o, s FROM orders o, OTHER.stock s WHERE o.sku = s.sku",
    "DELETE FROM o, s USING orders o, OTHER.stock s WHERE o.sku = s.sku",
    "DELETE FROM o.*, s.* USING (orders o, OTHER.stock s) WHERE o.sku = s.sku",
    "UPDATE orders o JOIN far f ON f.sku = o.sku SET o.state = 'paid', f.n = 0",
    "INSERT INTO sales VALUES (1)",
  ])("are refused, wherever they stand: %s (R98)", async (statement) => {
    const { ground, other } = makePair();
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    const written = sandbox.write("one", statement.replace("OTHER", other.name));
    await expect(written).rejects.toMatchObject({
      code: "DATABASE",
      data: { reason: "notCaptured", position: 1 },
      message: expect.stringContaining(other.name) as string,
    });
    expect((await sandbox.diff()).isEmpty).toBe(true);
    expect(on.server.sql(other, "SELECT * FROM stock")).toEqual(["7|5", "8|5"]);
    expect(ground.sql("SELECT state FROM orders; SELECT * FROM sales")).toEqual(["open", "open"]);
  });

  it("are not changed through views whose definition the user may not see, which may be read", async () => {
    const { ground, other } = makePair();
    const user = `${ground.database.role}@'127.0.0.1'`;
    on.server.sql(
      "mysql",
      `CREATE VIEW ${ground.schema}.hidden AS SELECT sku, n FROM ${other.name}.stock;
       REVOKE SHOW VIEW ON ${ground.schema}.* FROM ${user}`,
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    for (const statement of [
      "UPDATE orders o JOIN hidden f ON f.sku = o.sku SET o.state = 'paid', f.n = f.n - 1",
      "UPDATE hidden SET n = 0",
    ])
      await expect(sandbox.write("one", statement)).rejects.toMatchObject({
        code: "DATABASE",
        data: { reason: "notCaptured", position: 1 },
      });
    await sandbox.write(
      "two",
      `UPDATE orders o JOIN hidden f ON f.sku = o.sku SET o.n = f.n;
       INSERT INTO orders (id, sku) SELECT 10 + sku, n FROM hidden`,
    );
    await sandbox.commit();
    expect(ground.sql("SELECT id, n FROM orders")).toEqual(["1|5", "2|5", "17|0", "18|0"]);
    expect(on.server.sql(other, "SELECT * FROM stock")).toEqual(["7|5", "8|5"]);
  });

  it("are not changed by what a view of theirs calls, which the server's count of changes tells", async () => {
    const { ground, other } = makePair();
    on.server.sql(
      other,
      `DELIMITER //
       CREATE FUNCTION sell() RETURNS int BEGIN UPDATE stock SET n = n - 1; RETURN 5; END //
       DELIMITER ;
       CREATE VIEW sold AS SELECT sell() AS id`,
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    for (const statement of [
      "INSERT INTO orders (id) SELECT id FROM OTHER.sold",
      "UPDATE orders SET n = 1 WHERE id < (SELECT id FROM OTHER.sold)",
    ])
      await expect(
        sandbox.write("one", statement.replace("OTHER", other.name)),
      ).rejects.toMatchObject({ code: "DATABASE", data: { reason: "notCaptured", position: 1 } });
    expect((await sandbox.diff()).isEmpty).toBe(true);
    expect(on.server.sql(other, "SELECT * FROM stock")).toEqual(["7|5", "8|5"]);
  });
});
