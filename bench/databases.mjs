import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { KINDS } from "./database-kinds.mjs";
import { renderDatabases } from "./database-report.mjs";
import { Times, median, timed } from "./measure.mjs";
import { withSection } from "./section.mjs";
import { noteStatements, phasesIn } from "./statement-times.mjs";
import { noteSyncs, syncsOf } from "./sync-times.mjs";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "1000,1000000" },
    rounds: { type: "string", default: "15" },
    kinds: { type: "string", default: Object.keys(KINDS).join(",") },
    out: { type: "string" },
  },
});
const sizes = values.rows.split(",").map(Number);
const rounds = Number(values.rounds);
const CHANGED = 1000;
/** How many statements scripts have. */
const SCRIPTS = [500, 5000];
/** The rows that one transaction changes where commits are compared. */
const FEW = "UPDATE items SET state = state + 1 WHERE id <= 20";
const MEMORY = "/dev/shm";

noteSyncs();
noteStatements();
const { openCofferdam } = await import("../dist/index.js");
const times = new Times();
const syncs = {};

async function openCoffer(folder, url) {
  const place = mkdtempSync(join(folder, "state-"));
  const config = join(place, "config.yaml");
  writeFileSync(config, `connections:\n  main:\n    url: ${url}\n`);
  return openCofferdam({ stateDirectory: join(place, "state"), config });
}

async function makeSandbox(coffer, planId, script) {
  const resource = { resourceId: "items", type: "database", location: "main" };
  const sandbox = coffer.sandbox(await coffer.create(planId, resource));
  const written = await timed(() => sandbox.write("script", script));
  return { sandbox, written };
}

/** A write, a diff, a commit and an undo of a thousand changed rows. */
async function measureRows(folder, kind, server, size) {
  const coffer = await openCoffer(folder, await server.makeTable(size));
  for (let round = 0; round < 3; round++) {
    const script = `UPDATE items SET state = state + 1 WHERE id <= ${CHANGED}`;
    const { sandbox, written } = await makeSandbox(coffer, `rows-${round}`, script);
    times.add(kind, "write", size, written);
    for (const action of ["diff", "commit", "undoCommit"])
      times.add(kind, action, size, await timed(() => sandbox[action]()));
  }
  await coffer.close();
}

/** Scripts of very many statements: in a sandbox, and by hand in one transaction. */
async function measureScripts(folder, kind, server) {
  const url = await server.makeTable(10);
  const coffer = await openCoffer(folder, url);
  const client = await server.connect(url);
  for (const count of SCRIPTS) {
    const statements = Array.from(
      { length: count },
      (_, at) => `INSERT INTO items VALUES (${1000 + at}, 0, 'note ${at}')`,
    );
    const byHand = await timed(async () => {
      await client.run(client.begin());
      for (const statement of statements) await client.run(statement);
      await client.run("ROLLBACK");
    });
    times.add(kind, "scriptByHand", count, byHand);
    const { sandbox, written } = await makeSandbox(coffer, `script-${count}`, statements.join(";"));
    times.add(kind, "script", count, written);
    await sandbox.cleanup();
  }
  await client.end();
  await coffer.close();
}

/** The same small transaction three ways, in turn: committed, in two steps by hand, and in a sandbox. */
async function measureCommits(folder, kind, server, place) {
  const url = await server.makeTable(10_000);
  const coffer = await openCoffer(folder, url);
  const client = await server.connect(url);
  const note = (subject, value) => times.add(`${kind} ${place}`, subject, 20, value);
  const noted = [];
  for (let round = -1; round < rounds; round++) {
    await client.run(client.begin());
    await client.run(FEW);
    const plain = await timed(() => client.run("COMMIT"));
    const name = `bench-${round + 1}`;
    await client.run(client.begin(name));
    await client.run(FEW);
    const byHand = await timed(async () => {
      for (const statement of client.byHand(name)) await client.run(statement);
    });
    const { sandbox } = await makeSandbox(coffer, `commit-${round}`, FEW);
    let [ours, parts] = [0, null];
    const own = await syncsOf(async () => {
      ours = await timed(async () => {
        parts = await phasesIn(() => sandbox.commit());
      });
    });
    // The first round is for everybody's caches.
    if (round < 0) continue;
    noted.push(own);
    const file = await timed(() => closeSync(openSync(join(folder, `file-${round}`), "wx")));
    for (const [subject, value] of Object.entries({ plain, byHand, ours, file }))
      note(subject, value);
    if (parts === null) continue;
    note("phases", parts.phases);
    note("withoutLog", ours - parts.applying);
  }
  await client.end();
  await coffer.close();
  const middle = (key) => median(noted.map((one) => one[key]));
  syncs[`${kind} ${place}`] = {
    count: middle("count"),
    ordered: middle("ordered"),
    waitedMs: Math.round(middle("waited") * 100) / 100,
  };
}

/** Runs work with a server whose files, and ours, lie below a folder. */
async function withServer(kind, below, work) {
  const folder = mkdtempSync(join(below, "cofferdam-bench-"));
  // Where the servers put their data.
  process.env.TMPDIR = below;
  const server = await KINDS[kind](folder);
  try {
    await work(server, folder);
  } finally {
    await server.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

const disk = process.env.BENCH_DIR ?? tmpdir();
for (const kind of values.kinds.split(",")) {
  process.stderr.write(`${kind}\n`);
  await withServer(kind, disk, async (server, folder) => {
    await measureCommits(folder, kind, server, "disk");
    for (const size of sizes) await measureRows(folder, kind, server, size);
    await measureScripts(folder, kind, server);
  });
  await withServer(kind, MEMORY, (server, folder) =>
    measureCommits(folder, kind, server, "memory"),
  );
}
const isApart = process.env.BENCH_DIR !== undefined;
const report = {
  isApart,
  sizes,
  rounds,
  changed: CHANGED,
  scripts: SCRIPTS,
  times: times.list(),
  syncs,
};
const section = renderDatabases(report, times);
process.stdout.write(section);
if (values.out !== undefined) {
  const [data, page] = ["benchmarks.json", "benchmarks.md"].map((name) => join(values.out, name));
  const all = { ...JSON.parse(readFileSync(data, "utf8")), databases: report };
  writeFileSync(data, `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(page, withSection(readFileSync(page, "utf8"), section));
}
process.exit(0);
