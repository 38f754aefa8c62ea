import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createJiti } from "jiti";
import { Client } from "pg";
import { openCofferdam } from "../dist/index.js";
import { Times, timed } from "./measure.mjs";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "1000,1000000" },
    rounds: { type: "string", default: "9" },
  },
});
const sizes = values.rows.split(",").map(Number);
const rounds = Number(values.rounds);
const CHANGED = 1000;
/** The rows that one transaction changes where commits are compared. */
const FEW = "UPDATE items SET state = state + 1 WHERE id <= 20";

const jiti = createJiti(import.meta.url);
const { PostgresServer } = await jiti.import("../test/support/postgres-server.ts");
const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "cofferdam-bench-"));
const server = await PostgresServer.start({ shared_buffers: "256MB" });
const times = new Times();

/** A database with one table of so many rows, and an installation that knows it. */
async function makeDatabase(size) {
  const database = server.createDatabase();
  server.sql(
    database,
    `CREATE TABLE items (id int PRIMARY KEY, state int NOT NULL, note text NOT NULL);
     INSERT INTO items SELECT n, 0, 'note of ' || n FROM generate_series(1, ${size}) n;
     ANALYZE items`,
  );
  const config = join(folder, `${size}.yaml`);
  writeFileSync(config, `connections:\n  main:\n    url: ${database.url}\n`);
  const coffer = await openCofferdam({ stateDirectory: join(folder, `state-${size}`), config });
  return { database, coffer };
}

async function makeSandbox(coffer, planId, script) {
  const resource = { resourceId: "items", type: "database", location: "main" };
  const sandbox = coffer.sandbox(await coffer.create(planId, resource));
  await sandbox.write("script", script);
  return sandbox;
}

/** A diff, a commit and an undo of a thousand changed rows. */
async function measureRows(size) {
  const { coffer } = await makeDatabase(size);
  for (let round = 0; round < 3; round++) {
    const script = `UPDATE items SET state = state + 1 WHERE id <= ${CHANGED}`;
    const sandbox = await makeSandbox(coffer, `rows-${round}`, script);
    times.add("sandbox", "diff", size, await timed(() => sandbox.diff()));
    times.add("sandbox", "commit", size, await timed(() => sandbox.commit()));
    times.add("sandbox", "undo", size, await timed(() => sandbox.undoCommit()));
  }
  await coffer.close();
}

/** The same small transaction three ways, in turn: committed, prepared and committed by hand, and in a sandbox. */
async function measureCommits() {
  const { database, coffer } = await makeDatabase(100_000);
  const client = new Client(database.url);
  await client.connect();
  const begin = async () => {
    await client.query("BEGIN");
    await client.query(FEW);
  };
  for (let round = 0; round < rounds; round++) {
    await begin();
    times.add("COMMIT", "commit", 20, await timed(() => client.query("COMMIT")));
    await begin();
    const prepared = async () => {
      await client.query(`PREPARE TRANSACTION 'bench-${round}'`);
      await client.query(`COMMIT PREPARED 'bench-${round}'`);
    };
    times.add("prepared by hand", "commit", 20, await timed(prepared));
    const sandbox = await makeSandbox(coffer, `commit-${round}`, FEW);
    times.add("sandbox", "commit", 20, await timed(() => sandbox.commit()));
  }
  await client.end();
  await coffer.close();
}

try {
  for (const size of sizes) await measureRows(size);
  await measureCommits();
  for (const { subject, action, size, medianMs } of times.list()) {
    process.stdout.write(`${subject} ${action} ${size} ${medianMs} ms\n`);
  }
} finally {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
