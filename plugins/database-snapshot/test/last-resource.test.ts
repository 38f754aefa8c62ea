import { afterAll, beforeAll, expect, it } from "vitest";
import { PostgresServer } from "../../../test/support/postgres-server.ts";
import { Ground, psql } from "./ground.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start({ fsync: "off", max_prepared_transactions: 0 });
});
afterAll(() => server[Symbol.asyncDispose]());

it("commits what a command did on a server that cannot prepare, more than once, and takes it back", async () => {
  const ground = new Ground(
    server,
    "CREATE TABLE jobs (id int PRIMARY KEY, name text); INSERT INTO jobs VALUES (1, 'old')",
  );
  const rows = (): string[] => ground.sql("SELECT * FROM jobs ORDER BY id");
  await using cofferdam = await ground.open();
  const plan = await ground.plan(cofferdam);
  await ground.run(plan, psql("UPDATE jobs SET name = 'new'"));
  await ground.run(plan, psql("INSERT INTO jobs VALUES (2, 'two')"));
  await plan.commit();
  expect(rows()).toEqual(["1|new", "2|two"]);
  await plan.undo();
  expect(rows()).toEqual(["1|old"]);
  await plan.cleanup();
  expect(ground.clones()).toEqual([]);
});
