import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { IdlePool } from "../../../../src/strategies/transaction_rollback/idle-pool.ts";
import { WorkerProcess } from "../../../../src/strategies/transaction_rollback/sqlite/worker-process.ts";
import { runChild } from "../../../support/child.ts";
import { holdingProcess, succeedsAtOnce } from "./foreign.ts";
import { makeFiles, rowsOf } from "./ground.ts";
import { isAlive, openFiles, sqliteProcesses } from "./processes.ts";

const JOBS =
  "CREATE TABLE jobs (id INTEGER PRIMARY KEY, state TEXT); INSERT INTO jobs VALUES (1, 'old')";
const WAL = `PRAGMA journal_mode = WAL;; ${JOBS}`;
const CHANGE = "UPDATE jobs SET state = 'new'";
const STATE = "SELECT state FROM jobs";

describe("the process for SQLite that is kept between calls", () => {
  it("serves the next call, and is gone when the library is closed", async () => {
    const files = makeFiles({ shop: JOBS });
    const cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    const [first, ...others] = sqliteProcesses();
    expect(others).toEqual([]);
    await sandbox.write("row", CHANGE);
    expect(sqliteProcesses()).toEqual([first]);
    await cofferdam.close();
    expect(sqliteProcesses()).toEqual([]);
    expect(isAlive(first ?? 0)).toBe(false);
    expect(rowsOf(await sandbox.read(STATE))).toEqual([{ state: "new" }]);
    await cofferdam.close();
    expect(sqliteProcesses()).toEqual([]);
  });

  it.each([
    ["with a rollback journal", JOBS],
    ["in WAL mode", WAL],
  ])("holds no file of a database %s, and so no lock", async (_mode, setup) => {
    const files = makeFiles({ shop: setup });
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    const calls = [
      () => sandbox.write("row", CHANGE),
      () => sandbox.read(STATE),
      () => sandbox.write("bad", "UPDATE nowhere SET state = 1").catch(() => undefined),
      () => sandbox.commit(),
    ];
    for (const call of calls) {
      await call();
      const [kept = 0] = sqliteProcesses();
      expect(openFiles(kept, files.folder)).toEqual([]);
      expect(await succeedsAtOnce(files.path("shop"), "BEGIN EXCLUSIVE; COMMIT")).toBe(true);
    }
    expect(readdirSync(files.folder).filter((name) => name.startsWith("shop.db-"))).toEqual([]);
  });

  it("may be killed: the next call starts another one, and nothing is lost", async () => {
    const files = makeFiles({ shop: JOBS });
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    await sandbox.write("row", CHANGE);
    const kill = (): void => {
      const found = sqliteProcesses();
      expect(found).toHaveLength(1);
      for (const pid of found) process.kill(pid, "SIGKILL");
    };
    kill();
    expect(rowsOf(await sandbox.read(STATE))).toEqual([{ state: "new" }]);
    kill();
    await sandbox.commit();
    expect(files.sql("shop", STATE)).toEqual(["new"]);
    kill();
    await sandbox.undoCommit();
    expect(files.sql("shop", STATE)).toEqual(["old"]);
  });

  it("is another one for each call at the same time, so that none waits for the locks of another", async () => {
    const files = makeFiles({ shop: JOBS, store: JOBS });
    await using cofferdam = await files.open();
    const [shop, store] = [
      await files.sandbox(cofferdam, "shop"),
      cofferdam.sandbox(
        await cofferdam.create("other", {
          resourceId: "store",
          type: "database",
          location: "store",
        }),
      ),
    ];
    const end = await holdingProcess(files.path("shop"), "BEGIN EXCLUSIVE");
    const done: string[] = [];
    const waiting = shop.write("row", CHANGE).then(() => done.push("shop"));
    await store.write("row", CHANGE).then(() => done.push("store"));
    await end();
    await waiting;
    expect(done).toEqual(["store", "shop"]);
    expect(rowsOf(await shop.read(STATE))).toEqual([{ state: "new" }]);
    expect(rowsOf(await store.read(STATE))).toEqual([{ state: "new" }]);
  });

  it("neither keeps its owner from ending nor outlives it", async () => {
    const files = makeFiles({ shop: JOBS });
    const program = new URL("programs/leave-open.ts", import.meta.url);
    const { code, stdout, stderr } = await runChild(program, [files.stateDirectory, files.config]);
    expect(code, stderr).toBe(0);
    const { kept, left } = JSON.parse(stdout) as { kept: number[]; left: string[] };
    expect(kept).toHaveLength(1);
    expect(left).toEqual([]);
    await expect.poll(() => kept.filter(isAlive)).toEqual([]);
    expect(readdirSync(join(files.stateDirectory, "databases"))).toHaveLength(1);
  });

  it("ends by itself when nobody asks for a while", async () => {
    const idle = new IdlePool<WorkerProcess>(1);
    await (await WorkerProcess.open(idle))[Symbol.asyncDispose]();
    await expect.poll(() => sqliteProcesses()).toEqual([]);
  });
});
