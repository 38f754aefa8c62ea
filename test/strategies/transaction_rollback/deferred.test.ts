import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { AtomicCommitError } from "../../../src/index.ts";
import { PostgresServer } from "../../support/postgres-server.ts";
import { SHOP, makeGround } from "./fixture.ts";
import { OLD, changedPlan, mixed } from "./mixed-plan.ts";

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

it("checks deferred constraints before anybody publishes (R93)", async () => {
  const all = mixed(server);
  all.ground.sql(
    "CREATE TABLE tasks (id int PRIMARY KEY, job int REFERENCES jobs DEFERRABLE INITIALLY DEFERRED)",
  );
  await using cofferdam = await all.ground.open();
  const plan = await changedPlan(cofferdam, all, "folder first");
  await plan.sandbox("shop").write("task.sql", "INSERT INTO tasks VALUES (1, 99)");
  const committing = plan.commit();
  await expect(committing).rejects.toBeInstanceOf(AtomicCommitError);
  await expect(committing).rejects.toMatchObject({
    data: { report: { outcome: "aborted", failedId: "shop" } },
  });
  expect(all.state()).toEqual(OLD);
  await plan.sandbox("shop").write("fix.sql", "INSERT INTO jobs VALUES (99, 'late')");
  await plan.commit();
  expect(all.ground.sql("SELECT job FROM tasks")).toEqual(["99"]);
});

it("rows of a later statement never take the place of one whose turn has not come", async () => {
  const ground = makeGround(
    server,
    `CREATE TABLE kinds (id int PRIMARY KEY);
     CREATE TABLE parts (id int PRIMARY KEY, kind int REFERENCES kinds)`,
  );
  await using cofferdam = await ground.open();
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  await sandbox.write(
    "all.sql",
    `WITH made AS (INSERT INTO kinds VALUES (7)) INSERT INTO parts VALUES (5, 7);
     DELETE FROM parts; DELETE FROM kinds; INSERT INTO kinds VALUES (8)`,
  );
  await sandbox.commit();
  expect(ground.sql("SELECT id FROM kinds")).toEqual(["8"]);
  await sandbox.undoCommit();
  expect(ground.sql("SELECT id FROM kinds")).toEqual([]);
});
