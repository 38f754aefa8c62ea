import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { PostgresServer } from "../../support/postgres-server.ts";
import { SHOP, makeGround } from "./fixture.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

const TABLES = `CREATE TABLE kinds (id int PRIMARY KEY);
  CREATE TABLE parts (id int PRIMARY KEY, kind int REFERENCES kinds DEFERRABLE INITIALLY DEFERRED)`;

it("goes on in later scripts where a deferred key is still violated, and commits once it is not", async () => {
  const ground = makeGround(server, TABLES);
  const coffer = await ground.open();
  onTestFinished(() => coffer.close());
  const sandbox = coffer.sandbox(await coffer.create("plan", SHOP));
  await sandbox.write("child first", "INSERT INTO parts VALUES (1, 9)");
  await sandbox.write(
    "another child",
    "INSERT INTO parts VALUES (2, 9); UPDATE parts SET id = 3 WHERE id = 1",
  );
  await expect(sandbox.commit()).rejects.toMatchObject({ data: { originalRestored: true } });
  expect(ground.sql("SELECT * FROM parts")).toEqual([]);
  await sandbox.write("the parent", "INSERT INTO kinds VALUES (9)");
  await sandbox.commit();
  expect(ground.sql("SELECT * FROM parts ORDER BY id")).toEqual(["2|9", "3|9"]);
  expect(ground.prepared()).toEqual([]);
});
