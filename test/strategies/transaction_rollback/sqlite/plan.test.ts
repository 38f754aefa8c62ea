import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { AtomicCommitError } from "../../../../src/index.ts";
import { holdingProcess, succeedsAtOnce } from "./foreign.ts";
import { startChild } from "../../../support/child.ts";
import { tempFolder } from "../../../support/temp.ts";
import { NEW, OLD, makeFiles, makeTrio, runSql } from "./ground.ts";

const leftovers = (folder: string): string[] =>
  readdirSync(folder).filter((name) => /-(?:journal|wal|shm|mj)/.test(name));

describe("two SQLite databases and a directory", () => {
  it("are committed and undone together, or not at all when any of them fails (R92)", async () => {
    const trio = makeTrio();
    await using cofferdam = await trio.open();
    const plan = await trio.plan(cofferdam);
    expect((await plan.describe()).promise).toMatchObject({
      level: "lastResource",
      lastResource: ["shop", "store"],
    });
    writeFileSync(join(trio.site, "page"), "foreign\n");
    const first = plan.commit();
    await expect(first).rejects.toBeInstanceOf(AtomicCommitError);
    await expect(first).rejects.toMatchObject({
      data: { report: { outcome: "aborted", failedId: "site" } },
    });
    expect(trio.state()).toEqual({ ...OLD, file: "foreign\n" });
    writeFileSync(join(trio.site, "page"), OLD.file);
    await plan.sandbox("site").rollback();
    await plan.sandbox("site").write("page", NEW.file);
    trio.sql("store", "UPDATE jobs SET state = 'foreign'");
    await expect(plan.commit()).rejects.toMatchObject({
      data: { report: { outcome: "aborted", failedId: "store" } },
    });
    expect(trio.state()).toEqual({ rows: ["1|old", "1|foreign"], file: OLD.file });
    trio.sql("store", "UPDATE jobs SET state = 'old'");
    expect((await plan.commit()).outcome).toBe("committed");
    expect(trio.state()).toEqual(NEW);
    await plan.undo();
    expect(trio.state()).toEqual(OLD);
    expect(leftovers(trio.folder)).toEqual([]);
    expect(leftovers(trio.stateDirectory)).toEqual([]);
  });

  it("say of one without edits that nothing was done to it, also while another one decides", async () => {
    const trio = makeTrio();
    await using cofferdam = await trio.open();
    const plan = await trio.plan(cofferdam);
    await plan.sandbox("store").rollback();
    await plan.sandbox("store").write("none", "UPDATE jobs SET state = 'none' WHERE id = 99");
    const { results } = await plan.commit();
    expect(results["shop"]).toMatchObject({ noop: false, undoable: { possible: true } });
    expect(results["store"]).toMatchObject({ noop: true, revision: null });
    await plan.undo();
    expect(trio.state()).toEqual(OLD);
    // What is edited after that is new, for both.
    await plan.sandbox("store").write("job", "UPDATE jobs SET state = 'later'");
    await plan.commit();
    expect(trio.state().rows[1]).toBe("1|later");
  });

  it("check deferred constraints before anybody publishes (R93)", async () => {
    const trio = makeTrio();
    trio.sql(
      "store",
      "CREATE TABLE tasks (id INTEGER PRIMARY KEY, job INTEGER REFERENCES jobs DEFERRABLE INITIALLY DEFERRED)",
    );
    await using cofferdam = await trio.open();
    const plan = await trio.plan(cofferdam);
    await plan.sandbox("store").write("task", "INSERT INTO tasks VALUES (1, 99)");
    await plan.sandbox("store").write("more", "INSERT INTO tasks VALUES (2, 99)");
    const committing = plan.commit();
    await expect(committing).rejects.toBeInstanceOf(AtomicCommitError);
    await expect(committing).rejects.toMatchObject({
      data: { report: { outcome: "aborted" } },
    });
    expect(trio.state()).toEqual(OLD);
    await plan.sandbox("store").write("fix", "INSERT INTO jobs VALUES (99, 'late')");
    await plan.commit();
    expect(trio.sql("store", "SELECT job FROM tasks")).toEqual(["99", "99"]);
    expect(trio.state().file).toBe(NEW.file);
  });

  it("are as before when a reader keeps one of them from being committed", async () => {
    const trio = makeTrio();
    await using cofferdam = await trio.open();
    const plan = await trio.plan(cofferdam);
    const end = await holdingProcess(trio.path("store"), "BEGIN; SELECT * FROM jobs");
    await expect(plan.commit()).rejects.toMatchObject({
      data: { report: { outcome: "aborted" } },
    });
    expect(trio.state()).toEqual(OLD);
    await end();
    expect((await plan.commit()).outcome).toBe("committed");
    expect(trio.state()).toEqual(NEW);
  });

  it("may both change their schema in one commit", async () => {
    const trio = makeTrio();
    await using cofferdam = await trio.open();
    const plan = await trio.plan(cofferdam);
    const script = `
      CREATE TABLE "the parts" (id INTEGER PRIMARY KEY AUTOINCREMENT, job REFERENCES jobs);
      create  /* odd; */ index [by job] ON "the parts" (job);
      CREATE VIEW main.open_jobs AS SELECT * FROM jobs WHERE state <> 'done';
      CREATE TRIGGER IF NOT EXISTS note AFTER INSERT ON jobs BEGIN INSERT INTO "the parts" (job) VALUES (NEW.id); END;
      ALTER TABLE jobs ADD COLUMN place TEXT DEFAULT 'here';
      INSERT INTO jobs (id, state) VALUES (2, 'more');
      DROP VIEW open_jobs`;
    for (const id of ["shop", "store"]) await plan.sandbox(id).write("schema", script);
    await plan.commit();
    const schema = "SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name";
    for (const name of ["shop", "store"]) {
      expect(trio.sql(name, schema)).toEqual([
        `CREATE INDEX [by job] ON "the parts" (job)`,
        "CREATE TABLE jobs (id INTEGER PRIMARY KEY, state TEXT, place TEXT DEFAULT 'here')",
        `CREATE TRIGGER note AFTER INSERT ON jobs BEGIN INSERT INTO "the parts" (job) VALUES (NEW.id); END`,
        `CREATE TABLE "the parts" (id INTEGER PRIMARY KEY AUTOINCREMENT, job REFERENCES jobs)`,
      ]);
      expect(trio.sql(name, "SELECT * FROM jobs")).toEqual(["1|new|here", "2|more|here"]);
      expect(trio.sql(name, `SELECT * FROM "the parts"`)).toEqual(["1|2"]);
    }
  });

  it("of which one is switched to WAL mode meanwhile are left as they are", async () => {
    const trio = makeTrio();
    await using cofferdam = await trio.open();
    const plan = await trio.plan(cofferdam);
    const switched = await succeedsAtOnce(trio.path("store"), "PRAGMA journal_mode = WAL");
    expect(switched).toBe(true);
    await expect(plan.commit()).rejects.toMatchObject({
      data: { report: { outcome: "aborted" } },
    });
    expect(trio.state()).toEqual(OLD);
  });
});

describe("a SQLite database in WAL mode", () => {
  it("is the last resource of a plan, and its row of the decision goes again", async () => {
    const trio = makeTrio({ modes: ["WAL", "WAL"] });
    await using cofferdam = await trio.open();
    const plan = await cofferdam.plan("plan", [
      { id: "shop", type: "database", location: "shop" },
      { id: "site", type: "fs-directory", location: trio.site },
    ]);
    await plan.sandbox("shop").write("job", "UPDATE jobs SET state = 'new'");
    await plan.sandbox("site").write("page", NEW.file);
    writeFileSync(join(trio.site, "page"), "foreign\n");
    await expect(plan.commit()).rejects.toMatchObject({
      data: { report: { outcome: "aborted", failedId: "site" } },
    });
    expect(trio.state().rows).toEqual(OLD.rows);
    writeFileSync(join(trio.site, "page"), OLD.file);
    await plan.sandbox("site").rollback();
    await plan.sandbox("site").write("page", NEW.file);
    await plan.commit();
    expect(trio.state()).toEqual({ rows: ["1|new", "1|old"], file: NEW.file });
    await plan.undo();
    expect(trio.state()).toEqual(OLD);
    expect(trio.sql("shop", "SELECT name FROM sqlite_schema")).toEqual(["jobs"]);
  });

  it.each([
    ["another one", ["WAL", "WAL"]],
    ["one that is not", ["WAL", "DELETE"]],
  ])("is refused beside %s, unless best effort is enough", async (_what, modes) => {
    const trio = makeTrio({ modes });
    await using cofferdam = await trio.open();
    const plan = await trio.plan(cofferdam);
    await expect(plan.commit()).rejects.toMatchObject({ data: { report: { outcome: "refused" } } });
    expect(trio.state()).toEqual(OLD);
    await plan.commit({ bestEffort: true });
    expect(trio.state()).toEqual(NEW);
    await plan.undo();
    expect(trio.state()).toEqual(OLD);
    await plan.commit({ bestEffort: true });
    await plan.rollback();
    expect(trio.state()).toEqual(OLD);
  });
});

it("a process of SQLite that outlives its owner commits for all of the plan, or for nobody", async () => {
  const trio = makeTrio();
  {
    await using cofferdam = await trio.open();
    await trio.plan(cofferdam);
  }
  const end = await holdingProcess(trio.path("store"), "BEGIN IMMEDIATE");
  const program = new URL("../programs/commit-plan.ts", import.meta.url);
  const owner = await startChild(program, [trio.stateDirectory, trio.config, "commit", ""]);
  const decisions = join(trio.stateDirectory, "decision.db");
  const opened = "SELECT 1 FROM cofferdam_decisions WHERE decision = 'OPEN'";
  const isOpen = (): boolean => {
    try {
      return runSql(decisions, opened).length > 0;
    } catch {
      // Not made yet.
      return false;
    }
  };
  while (!isOpen()) await pause(5);
  owner.process.kill("SIGKILL");
  expect((await owner.result).signal).toBe("SIGKILL");
  const recovering = trio.open();
  await end();
  await using cofferdam = await recovering;
  const settled = trio.state();
  expect([OLD, NEW]).toContainEqual(settled);
  const plan = await cofferdam.plan("plan");
  if (settled.file === NEW.file) await plan.undo();
  expect(trio.state()).toEqual(OLD);
  await plan.commit();
  expect(trio.state()).toEqual(NEW);
});

it("a SQLite database inside a directory of the same plan is committed with it", async () => {
  const setup = "CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'old')";
  const files = makeFiles({ shop: setup });
  writeFileSync(join(files.folder, "page"), OLD.file);
  await using cofferdam = await files.open({ stateDirectory: join(tempFolder(), "state") });
  const plan = await cofferdam.plan("plan", [
    { id: "all", type: "fs-directory", location: files.folder },
    { id: "shop", type: "database", location: "shop" },
  ]);
  await plan.sandbox("all").write("page", NEW.file);
  await plan.sandbox("shop").write("row", "UPDATE t SET v = 'new'");
  await plan.commit();
  expect(files.sql("shop", "SELECT v FROM t")).toEqual(["new"]);
  expect(readFileSync(join(files.folder, "page"), "utf8")).toBe(NEW.file);
  await plan.undo();
  expect(files.sql("shop", "SELECT v FROM t")).toEqual(["old"]);
  expect(readFileSync(join(files.folder, "page"), "utf8")).toBe(OLD.file);
});
