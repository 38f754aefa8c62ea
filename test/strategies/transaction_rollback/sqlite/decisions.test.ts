import { once } from "node:events";
import { expect, it } from "vitest";
import { IdlePool } from "../../../../src/strategies/transaction_rollback/idle-pool.ts";
import { WorkerProcess } from "../../../../src/strategies/transaction_rollback/sqlite/worker-process.ts";
import { startChild } from "../../../support/child.ts";
import { makeFiles } from "./ground.ts";

const WORKER = new URL(
  "../../../../src/strategies/transaction_rollback/sqlite/worker.ts",
  import.meta.url,
);
const JOBS = "CREATE TABLE jobs (id INTEGER PRIMARY KEY, state TEXT)";
const TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";

it("a process of SQLite that is never asked for the commit it announced takes the announcement back", async () => {
  const files = makeFiles({ shop: `PRAGMA journal_mode = WAL;; ${JOBS}` });
  const file = { path: files.path("shop"), foreignKeys: true, identity: null };
  {
    await using worker = await WorkerProcess.open(new IdlePool());
    await worker.ask("open", { place: { own: null, file }, name: "coffer1:a:b" });
    expect(files.sql("shop", TABLES)).toEqual(["cofferdam_decisions", "jobs"]);
  }
  expect(files.sql("shop", TABLES)).toEqual(["jobs"]);
});

it("such an announcement is taken back too when nobody is left to hear the answer", async () => {
  const files = makeFiles({ shop: `PRAGMA journal_mode = WAL;; ${JOBS}` });
  const file = { path: files.path("shop"), foreignKeys: true, identity: null };
  const orphan = await startChild(WORKER, []);
  const ended = once(orphan.process, "exit");
  // What it says is lost, as it is for a reader that is dead.
  orphan.process.stdout.destroy();
  await expect(orphan.result).rejects.toBeInstanceOf(Error);
  const about = { place: { own: null, file }, name: "coffer1:a:b" };
  orphan.process.stdin.end(`${JSON.stringify({ kind: "open", about })}\n`);
  expect(await ended).toEqual([0, null]);
  expect(files.sql("shop", TABLES)).toEqual(["jobs"]);
});

it("an announcement beside that of somebody else goes alone", async () => {
  const files = makeFiles({ shop: JOBS });
  const file = { path: files.path("shop"), foreignKeys: true, identity: null };
  const place = { own: files.path("decisions"), file };
  await using first = await WorkerProcess.open(new IdlePool());
  await first.ask("open", { place, name: "coffer1:a:b" });
  {
    await using second = await WorkerProcess.open(new IdlePool());
    await second.ask("open", { place, name: "coffer1:a:c" });
  }
  expect(files.sql("decisions", "SELECT name FROM cofferdam_decisions")).toEqual(["coffer1:a:b"]);
});
