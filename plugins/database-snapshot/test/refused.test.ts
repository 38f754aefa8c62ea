import { execFileSync } from "node:child_process";
import { DatabaseError, SandboxCreationError } from "cofferdam";
import { expect, it } from "vitest";
import { Ground, psql, useServer } from "./ground.ts";

const on = useServer();
const JOBS = `CREATE TABLE jobs (id int PRIMARY KEY, name text NOT NULL);
  CREATE MATERIALIZED VIEW names AS SELECT name FROM jobs;
  INSERT INTO jobs VALUES (1, 'old')`;
const ALL = "SELECT id, name FROM jobs ORDER BY id";
const ADD = "INSERT INTO jobs VALUES (2, 'added')";

/** What the schema, or something beside the rows, is made by. */
const OTHERS: readonly (readonly [what: string, statements: string])[] = [
  ["made a table", "CREATE TABLE more (id int)"],
  ["added a column", "ALTER TABLE jobs ADD COLUMN size int"],
  ["made an index", "CREATE INDEX ON jobs (name)"],
  ["granted something", "GRANT SELECT ON jobs TO PUBLIC"],
  ["made a function", "CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1'"],
  ["wrote a comment", "COMMENT ON TABLE jobs IS 'all of them'"],
  ["refreshed a materialized view", "REFRESH MATERIALIZED VIEW names"],
  ["made a large object", "SELECT lo_from_bytea(0, 'x')"],
];

it.each(OTHERS)(
  "takes nothing of a command that %s, and keeps what it worked on",
  async (_what, statements) => {
    const ground = new Ground(on.server, JOBS);
    await using cofferdam = await ground.open();
    const plan = await ground.plan(cofferdam);
    const running = ground.run(plan, psql(`${ADD}; ${statements}`));
    await expect(running).rejects.toBeInstanceOf(DatabaseError);
    const error = (await running.catch((thrown: unknown) => thrown)) as DatabaseError;
    expect(error.data.reason).toBe("notCaptured");
    const kept = error.data.keptAt ?? "";
    expect(ground.clones()).toEqual([kept]);
    expect(on.server.sql({ ...ground.database, name: kept }, ALL)).toEqual(["1|old", "2|added"]);
    expect((await plan.diff()).isEmpty).toBe(true);
    expect(await ground.run(plan, psql(ADD))).toMatchObject({ exitCode: 0 });
    await plan.commit();
    expect(ground.sql(ALL)).toEqual(["1|old", "2|added"]);
    await plan.cleanup();
    expect(ground.clones()).toEqual([]);
  },
);

it("says so when a command dropped the whole database, and goes on with the plan", async () => {
  const ground = new Ground(on.server, JOBS);
  await using cofferdam = await ground.open();
  const plan = await ground.plan(cofferdam);
  const running = ground.run(plan, 'name=$PGDATABASE; PGDATABASE=postgres dropdb "$name"');
  await expect(running).rejects.toMatchObject({ data: { reason: "notCaptured" } });
  await ground.run(plan, psql(ADD));
  await plan.commit();
  expect(ground.sql(ALL)).toEqual(["1|old", "2|added"]);
  expect(ground.clones()).toEqual([]);
});

it("refuses a role that may not make databases before the command starts, and says what it needs", async () => {
  const ground = new Ground(on.server, JOBS);
  on.server.sql("postgres", `ALTER ROLE ${ground.database.role} NOCREATEDB`);
  await using cofferdam = await ground.open();
  const plan = await ground.plan(cofferdam);
  const running = ground.run(plan, "touch started");
  await expect(running).rejects.toMatchObject({
    data: { reason: "failed", sqlState: "42501" },
    hint: expect.stringContaining("CREATEDB") as string,
  });
  expect(execFileSync("ls", [ground.folder], { encoding: "utf8" })).not.toContain("started");
  await plan.sandbox("shop").write("add.sql", ADD);
  await plan.commit();
  expect(ground.sql(ALL)).toEqual(["1|old", "2|added"]);
});

it("refuses a database with tables that the role may not read", async () => {
  const ground = new Ground(on.server, JOBS);
  on.server.sql(ground.database.name, "CREATE TABLE hidden (id int)");
  await using cofferdam = await ground.open();
  const plan = await ground.plan(cofferdam);
  await expect(ground.run(plan, "true")).rejects.toMatchObject({
    data: { reason: "notCaptured" },
  });
  expect(ground.clones()).toEqual([]);
});

it("takes nothing where rules about rows hide some of them even from the owner", async () => {
  const ground = new Ground(
    on.server,
    `${JOBS}; CREATE POLICY few ON jobs USING (id < 2); ALTER TABLE jobs ENABLE ROW LEVEL SECURITY;
     ALTER TABLE jobs FORCE ROW LEVEL SECURITY`,
  );
  await using cofferdam = await ground.open();
  const plan = await ground.plan(cofferdam);
  const running = ground.run(plan, psql("UPDATE jobs SET name = 'new'"));
  await expect(running).rejects.toMatchObject({ data: { reason: "notCaptured" } });
  expect((await plan.diff()).isEmpty).toBe(true);
  await plan.cleanup();
  expect(ground.clones()).toEqual([]);
});

it("refuses MariaDB and names the strategy for it", async () => {
  const ground = new Ground(on.server, JOBS);
  ground.connect("mariadb://nobody@127.0.0.1:1/shop");
  await using cofferdam = await ground.open();
  const opening = ground.plan(cofferdam);
  await expect(opening).rejects.toBeInstanceOf(SandboxCreationError);
  await expect(opening).rejects.toMatchObject({
    data: { stage: "engine" },
    hint: expect.stringContaining("transaction_rollback") as string,
  });
});
