import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AtomicCommitError } from "../../../src/index.ts";
import { DatabaseProxy } from "../../support/database-proxy.ts";
import { PostgresServer } from "../../support/postgres-server.ts";
import { SHOP, makeGround } from "./fixture.ts";
import { type Mixed, NEW, OLD, changedPlan, killChangedPlan, mixed } from "./mixed-plan.ts";

let server: PostgresServer;
let proxy: DatabaseProxy;
beforeAll(async () => {
  server = await PostgresServer.start({ max_prepared_transactions: 0 });
  proxy = await DatabaseProxy.start(server);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const decisions = ({ ground }: Pick<Mixed, "ground">): string[] =>
  ground.sql("SELECT name FROM cofferdam.decisions");

describe("a role without rights to a table of decisions", () => {
  it("is refused when the sandbox is made, until it may make or use one (R91)", async () => {
    const { ground } = mixed(server);
    const { name, role } = ground.database;
    const { role: owner } = server.createDatabase();
    const grant = (what: string): unknown => server.sql(name, what);
    server.sql("postgres", `ALTER DATABASE ${name} OWNER TO ${owner}`);
    await using cofferdam = await ground.open();
    const create = (): Promise<unknown> => cofferdam.create("plan", SHOP);
    await expect(create()).rejects.toMatchObject({
      code: "SANDBOX_CREATION",
      hint: expect.stringContaining("cofferdam.decisions") as string,
    });
    grant(
      "CREATE SCHEMA cofferdam CREATE TABLE decisions (name text PRIMARY KEY, decision text NOT NULL, at timestamptz NOT NULL DEFAULT now())",
    );
    await expect(create()).rejects.toMatchObject({ code: "SANDBOX_CREATION" });
    grant(
      `GRANT USAGE ON SCHEMA cofferdam TO ${role}; GRANT SELECT, INSERT, DELETE ON cofferdam.decisions TO ${role}`,
    );
    await create();
  });
});

describe("a database that cannot prepare", () => {
  it("is committed after all others, as the decision (R91)", async () => {
    const all = mixed(server);
    await using cofferdam = await all.ground.open();
    const plan = await changedPlan(cofferdam, all);
    const { promise } = await plan.describe();
    expect(promise).toMatchObject({ level: "lastResource", lastResource: ["shop"] });
    writeFileSync(join(all.folder, "page"), "foreign\n");
    const committing = plan.commit();
    await expect(committing).rejects.toBeInstanceOf(AtomicCommitError);
    await expect(committing).rejects.toMatchObject({
      data: { report: { outcome: "aborted", failedId: "site" } },
    });
    expect(all.state()).toEqual({ row: OLD.row, file: "foreign\n" });
    writeFileSync(join(all.folder, "page"), OLD.file);
    await plan.sandbox("site").rollback();
    await plan.sandbox("site").write("page", NEW.file);
    all.ground.sql("UPDATE jobs SET state = 'foreign'");
    await expect(plan.commit()).rejects.toMatchObject({
      data: { report: { outcome: "aborted", failedId: "shop" } },
    });
    expect(all.state()).toEqual({ row: ["1|foreign"], file: OLD.file });
    all.ground.sql("UPDATE jobs SET state = 'old'");
    expect((await plan.commit()).outcome).toBe("committed");
    expect(all.state()).toEqual(NEW);
    await plan.undo();
    expect(all.state()).toEqual(OLD);
    expect(decisions(all)).toEqual([]);
  });

  it("has its commit on disk before others are published, also where its users need not wait", async () => {
    const all = mixed(server);
    all.ground.sql(`
      CREATE SCHEMA cofferdam;
      CREATE TABLE cofferdam.decisions (name text PRIMARY KEY, decision text, at timestamptz DEFAULT now());
      CREATE TABLE seen (setting text);
      CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN INSERT INTO seen VALUES (current_setting(''synchronous_commit'')); RETURN NEW; END';
      CREATE TRIGGER look AFTER INSERT ON cofferdam.decisions FOR EACH ROW EXECUTE FUNCTION look();
      ALTER ROLE ${all.ground.database.role} SET synchronous_commit = off`);
    await using cofferdam = await all.ground.open();
    const plan = await changedPlan(cofferdam, all);
    await plan.commit();
    expect(all.ground.sql("SHOW synchronous_commit; SELECT setting FROM seen")).toEqual([
      "off",
      "on",
    ]);
    expect(all.state()).toEqual(NEW);
  });

  it("is refused beside another one, and allowed alone (R147)", async () => {
    const [one, two] = [mixed(server), mixed(server)];
    const urls = { main: one.ground.database.url, other: two.ground.database.url };
    const connections = Object.entries(urls).map(([name, url]) => [name, { url }] as const);
    writeFileSync(
      one.ground.config,
      JSON.stringify({ connections: Object.fromEntries(connections) }),
    );
    await using cofferdam = await one.ground.open();
    const plan = await cofferdam.plan("plan", [
      { id: "shop", type: "database", location: "main" },
      { id: "store", type: "database", location: "other" },
    ]);
    for (const id of ["shop", "store"])
      await plan.sandbox(id).write("job", "UPDATE jobs SET state = 'new'");
    await expect(plan.commit()).rejects.toMatchObject({ data: { report: { outcome: "refused" } } });
    expect([one.state().row, two.state().row]).toEqual([OLD.row, OLD.row]);
    const breaks =
      "CREATE TABLE tasks (id int PRIMARY KEY, job int REFERENCES jobs DEFERRABLE INITIALLY DEFERRED)";
    one.ground.sql(breaks);
    await plan.sandbox("shop").write("late", "INSERT INTO tasks VALUES (1, 99)");
    const failing = plan.commit({ bestEffort: true });
    await expect(failing).rejects.toMatchObject({ data: { report: { failedId: "shop" } } });
    expect([one.state().row, two.state().row]).toEqual([OLD.row, OLD.row]);
    await plan.sandbox("shop").rollback();
    await plan.sandbox("shop").write("job", "UPDATE jobs SET state = 'new'");
    two.ground.sql(breaks);
    await plan.sandbox("store").write("late", "INSERT INTO tasks VALUES (1, 99)");
    const partly = plan.commit({ bestEffort: true });
    await expect(partly).rejects.toMatchObject({
      data: {
        report: { outcome: "partial", failedId: "store", results: { shop: { success: true } } },
      },
    });
    expect([one.state().row, two.state().row]).toEqual([NEW.row, OLD.row]);
    const single = cofferdam.sandbox(await cofferdam.create("alone", SHOP));
    await single.write("job", "UPDATE jobs SET state = 'newest'");
    await single.commit();
    expect(one.state().row).toEqual(["1|newest"]);
    await single.rollback();
    expect(one.state().row).toEqual(NEW.row);
    expect(decisions(one)).toEqual([]);
  });

  it.each([
    ["commit", "plan.prepared", OLD],
    ["commit", "plan.decided", NEW],
    ["undo", "plan.decided", OLD],
  ] as const)(
    "is settled by recovery after a kill in %s at %s (R91)",
    async (call, event, expected) => {
      const all = mixed(server);
      const { ground } = all;
      await killChangedPlan(all, call, event);
      await using cofferdam = await ground.open();
      expect(all.state()).toEqual(expected);
      expect(decisions(all)).toEqual([]);
      expect((await cofferdam.list()).map(({ status }) => status)).not.toContain("ERRORED");
      const plan = await cofferdam.plan("plan");
      if (expected === NEW) await plan.undo();
      else await plan.commit();
      expect(all.state()).toEqual(expected === NEW ? OLD : NEW);
    },
  );

  it.each([
    ["before", OLD],
    ["after", NEW],
  ] as const)(
    "tells the truth when the connection is cut %s its COMMIT (R94)",
    async (when, expected) => {
      const all = mixed(server, proxy.port);
      await using cofferdam = await all.ground.open();
      const plan = await changedPlan(cofferdam, all);
      proxy.arm({ statement: "COMMIT\0", when });
      const outcome = await plan.commit().then(
        (report) => report.outcome,
        (thrown: unknown) => (thrown as AtomicCommitError).data.report.outcome,
      );
      expect(outcome).toBe(expected === NEW ? "committed" : "aborted");
      expect(all.state()).toEqual(expected);
      const alone = makeGround(
        server,
        "CREATE TABLE jobs (id int PRIMARY KEY)",
        ({ role, password, name }) =>
          `postgres://${role}:${password}@127.0.0.1:${proxy.port}/${name}`,
      );
      await using other = await alone.open();
      const single = other.sandbox(await other.create("alone", SHOP));
      await single.write("job", "INSERT INTO jobs VALUES (1)");
      proxy.arm({ statement: "COMMIT\0", when });
      const isDone = await single.commit().then(
        () => true,
        () => false,
      );
      expect(isDone).toBe(expected === NEW);
      expect(alone.sql("SELECT id FROM jobs")).toEqual(isDone ? ["1"] : []);
      expect((await single.describe()).status).toBe(isDone ? "COMMITTED" : "ACTIVE");
      expect(decisions({ ground: alone })).toEqual([]);
    },
  );
});
