import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SandboxCommitError, SandboxPathError, SandboxRollbackError } from "../../../src/index.ts";
import { DatabaseProxy } from "../../support/database-proxy.ts";
import { PostgresServer } from "../../support/postgres-server.ts";
import { tempFolder } from "../../support/temp.ts";
import { run } from "../shell.ts";
import { SHOP, makeGround } from "./fixture.ts";
import { NEW, OLD, changedPlan, mixed } from "./mixed-plan.ts";

const SETUP =
  "CREATE TABLE jobs (id int PRIMARY KEY, state text); INSERT INTO jobs VALUES (1, 'old')";
const CHANGE = "UPDATE jobs SET state = 'new'";

let server: PostgresServer;
let plain: PostgresServer;
let proxy: DatabaseProxy;
beforeAll(async () => {
  server = await PostgresServer.start();
  plain = await PostgresServer.start({ max_prepared_transactions: 0 });
  proxy = await DatabaseProxy.start(plain);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await plain[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

it("an undo that somebody else's edit prevents is told beforehand, by the row", async () => {
  const ground = makeGround(server, SETUP);
  await using cofferdam = await ground.open();
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  await sandbox.write("job.sql", CHANGE);
  await sandbox.commit();
  expect(await sandbox.previewUndo()).toMatchObject({ possible: true });
  ground.sql("UPDATE jobs SET state = 'foreign'");
  const preview = await sandbox.previewUndo();
  expect(preview).toMatchObject({ possible: false });
  expect(JSON.stringify(preview)).toContain("public.jobs/1");
  await expect(sandbox.undoCommit()).rejects.toBeInstanceOf(SandboxRollbackError);
  expect(ground.sql("SELECT state FROM jobs")).toEqual(["foreign"]);
});

it("a commit whose outcome nobody can ask for is unknown until somebody can (R94)", async () => {
  const all = mixed(plain, proxy.port);
  const { ground } = all;
  await using cofferdam = await ground.open();
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  await sandbox.write("job.sql", CHANGE);
  // The answer to the commit is lost, and everything afterwards.
  proxy.arm({ statement: "COMMIT", when: "after", act: () => proxy.refuse(true) });
  const committing = sandbox.commit();
  await expect(committing).rejects.toBeInstanceOf(SandboxCommitError);
  await expect(committing).rejects.toMatchObject({ data: { originalRestored: false } });
  expect((await sandbox.describe()).status).toBe("ERRORED");
  proxy.refuse(false);
  await cofferdam.recover();
  expect((await sandbox.describe()).status).toBe("COMMITTED");
  expect(all.state().row).toEqual(NEW.row);
  await sandbox.undoCommit();
  expect(all.state().row).toEqual(OLD.row);
});

it("two who make the table of decisions at the same time do not get in each other's way", async () => {
  const all = mixed(plain);
  await using cofferdam = await all.ground.open();
  const plan = await changedPlan(cofferdam, all);
  const other = new Client(all.ground.database.url);
  await other.connect();
  await other.query("BEGIN");
  await other.query("CREATE SCHEMA cofferdam");
  const committing = plan.commit();
  const waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'";
  while (all.ground.sql(waiting).length === 0) await pause(10);
  await other.query("COMMIT");
  await other.end();
  expect((await committing).outcome).toBe("committed");
  expect(all.state()).toEqual(NEW);
});

it("an address that no diff would show is the address of nothing", async () => {
  const ground = makeGround(server, SETUP);
  await using cofferdam = await ground.open();
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  for (const address of ["public.%zz/1", "public.nothing/1", "public.jobs/1,2", "public.jobs/2"]) {
    await expect(sandbox.read(address)).rejects.toBeInstanceOf(SandboxPathError);
  }
});

it("a sandbox that finds no room for its log is not made, and leaves nothing", async () => {
  const ground = makeGround(server, SETUP);
  await using cofferdam = await ground.open();
  writeFileSync(join(ground.stateDirectory, "databases"), "in the way");
  await expect(cofferdam.create("plan", SHOP)).rejects.toMatchObject({ code: "SANDBOX_CREATION" });
  expect(await cofferdam.list()).toEqual([]);
});

it("a server that cannot be reached is told by a trial", async () => {
  const ground = makeGround(server, SETUP, () => "postgres://nobody@127.0.0.1:1/nothing");
  await using cofferdam = await ground.open();
  const { strategies } = await cofferdam.inspectStrategies(SHOP);
  const trial = strategies.find(({ name }) => name === "transaction_rollback");
  expect(trial?.probe).toMatchObject({ works: false });
});

it("without the client library a database is refused with what to install", () => {
  const folder = tempFolder();
  const root = fileURLToPath(new URL("../../../", import.meta.url));
  cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true });
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  mkdirSync(join(folder, "node_modules"));
  for (const name of ["koffi", "yaml", "diff", "jiti"])
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  expect(existsSync(join(folder, "node_modules/pg"))).toBe(false);
  writeFileSync(
    join(folder, "config.yaml"),
    "connections:\n  main:\n    url: postgres://x@127.0.0.1:1/x\n",
  );
  const module = pathToFileURL(join(folder, "dist/index.js")).href;
  writeFileSync(
    join(folder, "try.mjs"),
    `import { openCofferdam } from ${JSON.stringify(module)};
     const coffer = await openCofferdam({ stateDirectory: "./state", config: "./config.yaml" });
     const resource = { resourceId: "r", type: "database", location: "main" };
     await coffer.create("p", resource).catch((error) => console.log(JSON.stringify(error)));
     await coffer.close();`,
  );
  const told = JSON.parse(run(process.execPath, ["try.mjs"], folder)) as unknown;
  expect(told).toMatchObject({ code: "PLATFORM_UNSUPPORTED", hint: "npm install pg" });
});
