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

const WAITING = `CREATE TABLE kinds (id int PRIMARY KEY, part int);
  CREATE TABLE parts (id int PRIMARY KEY, kind int REFERENCES kinds DEFERRABLE INITIALLY DEFERRED);
  ALTER TABLE kinds ADD FOREIGN KEY (part) REFERENCES parts DEFERRABLE INITIALLY DEFERRED;
  CREATE TABLE jobs (id int PRIMARY KEY, name text); CREATE TABLE seen (what text);
  CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.name = 'bad' THEN RAISE EXCEPTION 'a bad name'; END IF;
    INSERT INTO seen VALUES (TG_NAME || ' ' || (SELECT count(*) FROM jobs)); RETURN NULL; END $$;
  CREATE TRIGGER at_once AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION see();
  CREATE CONSTRAINT TRIGGER at_end AFTER INSERT ON jobs DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION see()`;

it("triggers that wait for the end of a transaction run at the end of each script, and are undone (R89, R90)", async () => {
  const ground = makeGround(server, WAITING);
  await using cofferdam = await ground.open();
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  await sandbox.write("two", "INSERT INTO jobs VALUES (1, 'a'); INSERT INTO jobs VALUES (2, 'b')");
  await sandbox.write("one", "INSERT INTO jobs VALUES (3, 'c')");
  const seen = ["at_end 2", "at_end 2", "at_end 3", "at_once 1", "at_once 2", "at_once 3"];
  const { changes } = await sandbox.diff();
  expect(changes.filter(({ path }) => path.startsWith("public.seen/"))).toHaveLength(5);
  await sandbox.commit();
  expect(ground.sql("SELECT what FROM seen ORDER BY 1")).toEqual(seen);
  await sandbox.rollback();
  expect(ground.sql("SELECT what FROM seen UNION ALL SELECT name FROM jobs")).toEqual([]);
});

it("a trigger that refuses at the end refuses the script, and nothing of it is kept (R96)", async () => {
  const ground = makeGround(server, `${WAITING}; DROP TRIGGER at_once ON jobs`);
  await using cofferdam = await ground.open();
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  await expect(
    sandbox.write("bad", "INSERT INTO parts VALUES (1); INSERT INTO jobs VALUES (1, 'bad')"),
  ).rejects.toMatchObject({ code: "DATABASE", data: { reason: "failed", sqlState: "P0001" } });
  expect((await sandbox.diff()).changes).toEqual([]);
});

it("rows that refer to each other can be written after rows of a table with triggers (R93, R96)", async () => {
  const ground = makeGround(server, WAITING);
  await using cofferdam = await ground.open();
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  await sandbox.write("job", "INSERT INTO jobs VALUES (1, 'a')");
  await sandbox.write("ring", "INSERT INTO parts VALUES (1, 1); INSERT INTO kinds VALUES (1, 1)");
  await sandbox.write("schema", "CREATE TABLE later (id int)");
  await sandbox.write("half", "INSERT INTO parts VALUES (2, 2)");
  await sandbox.write("whole", "INSERT INTO kinds VALUES (2, 2)");
  await sandbox.commit();
  expect(ground.sql("SELECT * FROM parts ORDER BY 1")).toEqual(["1|1", "2|2"]);
});

it("a key of a table with triggers cannot wait for a later script, so that none is shut out (R93)", async () => {
  const ground = makeGround(
    server,
    `${WAITING}; CREATE TABLE tasks (job int REFERENCES jobs DEFERRABLE INITIALLY DEFERRED)`,
  );
  await using cofferdam = await ground.open();
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  await sandbox.write("job", "INSERT INTO jobs VALUES (1, 'a')");
  await expect(sandbox.write("task", "INSERT INTO tasks VALUES (9)")).rejects.toMatchObject({
    code: "DATABASE",
    data: { reason: "failed", position: null, sqlState: "23503" },
  });
  await sandbox.write("both", "INSERT INTO tasks VALUES (9); INSERT INTO jobs VALUES (9, 'b')");
  await sandbox.commit();
  expect(ground.sql("SELECT * FROM tasks")).toEqual(["9"]);
});
