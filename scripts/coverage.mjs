// Runs the tests and counts which lines and branches of src/ ran in any process of the run: the
// workers of vitest, their threads, and every Node child that a test or the product started.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { CoverageReport } from "monocart-coverage-reports";

const THRESHOLDS = { lines: 97, branches: 90 };
const root = fileURLToPath(new URL("..", import.meta.url));
const raw = join(root, "coverage/raw");
const dist = pathToFileURL(join(root, "dist/")).href;

rmSync(join(root, "coverage"), { recursive: true, force: true });
mkdirSync(raw, { recursive: true });
// Children under other users leave their counts here as well.
chmodSync(raw, 0o1777);

const vitest = ["node_modules/vitest/vitest.mjs", "run", ...testArguments()];
const tests = spawnSync(process.execPath, vitest, {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, NODE_V8_COVERAGE: raw },
});

const report = new CoverageReport({
  name: "Cofferdam",
  outputDir: join(root, "coverage"),
  cleanCache: true,
  clean: false,
  logging: "error",
  reports: ["lcovonly", "json-summary", ["text", { skipFull: true }]],
  entryFilter: (entry) => entry.url.startsWith(dist),
  sourceFilter: (path) => path.startsWith("src/"),
  sourcePath: (path) => path.replace(/^dist\/(.*)\.js$/, "src/$1.ts"),
  // Files that no process loaded count with all their lines, unless they hold nothing but types.
  all: {
    dir: join(root, "dist"),
    filter: (path) => path.endsWith(".js") && !onlyTypes(path),
  },
});
removeTorn(raw);
await report.addFromDir(raw);
await report.generate();
rmSync(raw, { recursive: true });
// The usual definitions: a line counts by the statements that begin in it.
const { total } = JSON.parse(readFileSync(join(root, "coverage/coverage-summary.json"), "utf8"));

let failed = tests.status !== 0;
for (const [kind, least] of Object.entries(THRESHOLDS)) {
  const percent = total[kind].pct;
  console.log(`${kind}: ${percent} percent, at least ${least}`);
  failed ||= percent < least;
}
process.exit(failed ? 1 : 0);

/** Tests that kill or limit a process cut off what it was counting. */
function removeTorn(folder) {
  const torn = readdirSync(folder).filter(
    (name) => !readFileSync(join(folder, name), "latin1").endsWith("}"),
  );
  for (const name of torn) rmSync(join(folder, name));
  if (torn.length > 0) console.log(`${torn.length} processes ended before they had counted`);
}

function onlyTypes(path) {
  return /^export \{\};\s*(\/\/#.*)?$/.test(readFileSync(path, "utf8"));
}

function testArguments() {
  const given = process.argv.slice(2);
  return given.length > 0 ? given : ["--project", "unit"];
}
