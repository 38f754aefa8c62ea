import { expect, test } from "vitest";
import type { TestDatabase } from "../support/database-server.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { type Home, coffer, makeHome } from "./coffer.ts";

const SETUP = `CREATE TABLE jobs (id int PRIMARY KEY, name text, meta jsonb);
  INSERT INTO jobs VALUES (1, 'one', '{"k": [1, 2.50, "3"], "big": 12345678901234567890}');
  CREATE FUNCTION add_job(id int) RETURNS int LANGUAGE sql AS $$ INSERT INTO jobs VALUES (id, 'more') RETURNING id $$`;

/** A home with an open plan over a database of the server. */
function makeShop(server: PostgresServer): { readonly home: Home; readonly shop: TestDatabase } {
  const shop = server.createDatabase();
  server.sql(shop, SETUP);
  const home = makeHome({ "cofferdam.yaml": `connections:\n  shop:\n    url: ${shop.url}\n` });
  expect(coffer(home, ["open", "try", "-r", "postgres:shop"]).code).toBe(0);
  return { home, shop };
}

test("shows what a server answers as it is, and runs queries that write as scripts", async () => {
  await using server = await PostgresServer.start();
  const { home, shop } = makeShop(server);
  const sql = (text: string): string => {
    const done = coffer(home, ["sql", "-q", "try", "shop", text]);
    expect(done).toMatchObject({ code: 0, stderr: "" });
    return done.stdout;
  };
  expect(sql("SELECT id, meta FROM jobs")).toBe(
    'id  meta\n1   {"k":[1,2.50,"3"],"big":12345678901234567890}\n',
  );
  const join = "SELECT a.id, b.id, a.name, b.name FROM jobs a, (VALUES (2, 'x')) b(id, name)";
  expect(sql(join)).toBe("id  id  name  name\n1   2   one   x\n");
  expect(sql("SHOW max_prepared_transactions")).toBe("max_prepared_transactions\n20\n");
  expect(sql("SELECT add_job(2)")).toBe("");
  expect(sql("WITH gone AS (DELETE FROM jobs WHERE id = 1 RETURNING id) SELECT * FROM gone")).toBe(
    "",
  );
  expect(
    sql("WITH n AS (SELECT 2 AS id) UPDATE jobs SET name = 'new' FROM n WHERE jobs.id = n.id"),
  ).toBe("");
  expect(sql("SELECT id, name FROM jobs")).toBe("id  name\n2   new\n");
  expect(server.sql(shop, "SELECT id FROM jobs")).toEqual(["1"]);
});
