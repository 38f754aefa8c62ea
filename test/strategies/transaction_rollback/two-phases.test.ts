import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AtomicCommitError, type Cofferdam, type Plan } from "../../../src/index.ts";
import { runChild } from "../../support/child.ts";
import { PostgresProxy } from "../../support/postgres-proxy.ts";
import { PostgresServer } from "../../support/postgres-server.ts";
import { type Ground, makeGround, rowsOf } from "./fixture.ts";

const SETUP =
  "CREATE TABLE jobs (id int PRIMARY KEY, state text); INSERT INTO jobs VALUES (1, 'old')";
const OLD = { row: ["1|old"], file: "old\n" };
const NEW = { row: ["1|new"], file: "new\n" };

let server: PostgresServer;
let proxy: PostgresProxy;
beforeAll(async () => {
  server = await PostgresServer.start();
  proxy = await PostgresProxy.start(server.port);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const throughProxy = ({ role, password, name }: Ground["database"]): string =>
  `postgres://${role}:${password}@127.0.0.1:${proxy.port}/${name}`;

interface Mixed {
  readonly ground: Ground;
  readonly folder: string;
  state(): typeof OLD;
}

function mixed(): Mixed {
  const ground = makeGround(server, SETUP, throughProxy);
  const folder = join(ground.folder, "site");
  mkdirSync(folder);
  writeFileSync(join(folder, "page"), OLD.file);
  const state = (): typeof OLD => ({
    row: ground.sql("SELECT * FROM jobs ORDER BY id"),
    file: readFileSync(join(folder, "page"), "utf8"),
  });
  return { ground, folder, state };
}

/** A plan with a change in both resources. */
async function changedPlan(
  cofferdam: Cofferdam,
  { folder }: Mixed,
  order: "database first" | "folder first" = "database first",
): Promise<Plan> {
  const resources = [
    { id: "shop", type: "database", location: "main" },
    { id: "site", type: "fs-directory", location: folder, sandboxStrategy: "filesystem_copy" },
  ];
  const plan = await cofferdam.plan(
    "plan",
    order === "database first" ? resources : resources.toReversed(),
  );
  await plan.sandbox("shop").write("job.sql", "UPDATE jobs SET state = 'new'");
  await plan.sandbox("site").write("page", NEW.file);
  return plan;
}

describe("a plan with a directory and a database", () => {
  it.each(["database first", "folder first"] as const)(
    "publishes both, or neither when one fails, %s (R92)",
    async (order) => {
      const all = mixed();
      await using cofferdam = await all.ground.open();
      const plan = await changedPlan(cofferdam, all, order);
      expect((await plan.describe()).promise.level).toBe("atomic");
      writeFileSync(join(all.folder, "page"), "foreign\n");
      const first = plan.commit();
      await expect(first).rejects.toBeInstanceOf(AtomicCommitError);
      await expect(first).rejects.toMatchObject({
        data: { report: { outcome: "aborted", failedId: "site" } },
      });
      expect(all.state()).toEqual({ row: OLD.row, file: "foreign\n" });
      expect(all.ground.prepared()).toEqual([]);
      writeFileSync(join(all.folder, "page"), OLD.file);
      all.ground.sql("UPDATE jobs SET state = 'foreign'");
      await expect(plan.sandbox("site").rollback()).resolves.toBeUndefined();
      await plan.sandbox("site").write("page", NEW.file);
      const second = plan.commit();
      await expect(second).rejects.toMatchObject({
        data: { report: { outcome: "aborted", failedId: "shop" } },
      });
      expect(all.state()).toEqual({ row: ["1|foreign"], file: OLD.file });
      all.ground.sql("UPDATE jobs SET state = 'old'");
      expect((await plan.commit()).outcome).toBe("committed");
      expect(all.state()).toEqual(NEW);
      expect(all.ground.prepared()).toEqual([]);
      await plan.undo();
      expect(all.state()).toEqual(OLD);
    },
  );

  it("goes back to a checkpoint in both", async () => {
    const all = mixed();
    await using cofferdam = await all.ground.open();
    const plan = await changedPlan(cofferdam, all);
    await plan.checkpoint("good");
    await plan.sandbox("shop").write("worse.sql", "DELETE FROM jobs");
    await plan.sandbox("site").write("page", "worse\n");
    await plan.restoreCheckpoint("good");
    expect(rowsOf(await plan.sandbox("shop").read("SELECT state FROM jobs"))).toEqual([
      { state: "new" },
    ]);
    await plan.commit();
    expect(all.state()).toEqual(NEW);
  });

  it("checks deferred constraints before anybody publishes", async () => {
    const all = mixed();
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
});

describe("a process that is killed", () => {
  it.each([
    ["commit", "plan.prepared", OLD],
    ["commit", "plan.decided", NEW],
    ["undo", "plan.prepared", NEW],
    ["undo", "plan.decided", OLD],
  ] as const)(
    "in %s at %s leaves what recovery settles (R92, R223)",
    async (call, event, expected) => {
      const all = mixed();
      const { ground } = all;
      {
        await using cofferdam = await ground.open();
        const plan = await changedPlan(cofferdam, all);
        if (call === "undo") await plan.commit();
      }
      const args = [ground.stateDirectory, ground.config, call, event];
      const died = await runChild(new URL("programs/commit-plan.ts", import.meta.url), args);
      expect(died.signal).toBe("SIGKILL");
      expect(ground.prepared()).toHaveLength(1);
      await server.halt("immediate");
      await server.resume();
      expect(ground.prepared()).toHaveLength(1);
      await using cofferdam = await ground.open();
      expect(cofferdam.opening.recovery?.transactions).toHaveLength(1);
      expect(all.state()).toEqual(expected);
      expect(ground.prepared()).toEqual([]);
      expect((await cofferdam.list()).map(({ status }) => status)).not.toContain("ERRORED");
      expect(await cofferdam.interrupted()).toMatchObject({ transactions: [], sandboxes: [] });
    },
  );
});

describe("a connection that is cut", () => {
  it.each([
    ["before", "PREPARE TRANSACTION", OLD],
    ["after", "PREPARE TRANSACTION", OLD],
    ["before", "COMMIT PREPARED", NEW],
    ["after", "COMMIT PREPARED", NEW],
  ] as const)("%s %s tells the true outcome (R94)", async (when, statement, expected) => {
    const all = mixed();
    await using cofferdam = await all.ground.open();
    const plan = await changedPlan(cofferdam, all);
    const firedBefore = proxy.fired;
    proxy.arm({ statement, when });
    const outcome = await plan.commit().then(
      (report) => report.outcome,
      (thrown: unknown) => (thrown as AtomicCommitError).data.report.outcome,
    );
    expect(proxy.fired).toBe(firedBefore + 1);
    expect(outcome).toBe(expected === NEW ? "committed" : "aborted");
    expect(all.state()).toEqual(expected);
    expect(all.ground.prepared()).toEqual([]);
  });

  it("by the server before a commit is a typed error, and the edits stay (R94)", async () => {
    const all = mixed();
    await using cofferdam = await all.ground.open();
    const plan = await changedPlan(cofferdam, all);
    proxy.arm({
      statement: "SET CONSTRAINTS",
      when: "before",
      act: () => {
        server.sql(
          "postgres",
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name ~ '^cofferdam'",
        );
      },
    });
    const committing = plan.sandbox("shop").commit();
    await expect(committing).rejects.toMatchObject({
      code: "SANDBOX_COMMIT",
      data: { originalRestored: true },
    });
    expect(all.ground.prepared()).toEqual([]);
    expect((await plan.sandbox("shop").describe()).status).toBe("ACTIVE");
    await plan.commit();
    expect(all.state()).toEqual(NEW);
  });
});
