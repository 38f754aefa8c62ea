// Runs the tests, as root and as an ordinary user, and counts which lines and branches of src/ ran in
// any process: the workers of vitest, their threads, and every Node child that a test or the product
// started. Arguments name tests of vitest, which then run alone.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { CoverageReport } from "monocart-coverage-reports";
import { untakenCatches } from "./untaken-catches.mjs";

const THRESHOLDS = { lines: 97, branches: 90 };
/** The tests of what works in another way for an ordinary user. */
const AS_ORDINARY_USER = ["tree", "strategies", "platform", "journal", "conformance"].map(
  (name) => `test/${name}`,
);
const root = fileURLToPath(new URL("..", import.meta.url));
/** Tests that try many points one after the other, by the beginnings of their paths. */
const SWEEPING = JSON.parse(readFileSync(join(root, "scripts/faults/sweeping.json"), "utf8"));
const dist = pathToFileURL(join(root, "dist/")).href;
/** The built files in a copy of the checkout, made where other users cannot read this one. */
const COPY = /file:\/\/[^"]*\/cofferdam-(?:test|user)-\w+(?:\/[^"]*)?\/checkout\/dist\//g;

rmSync(join(root, "coverage"), { recursive: true, force: true });
// Children under other users leave their counts here as well, who may have no way into the checkout.
const raw = mkdtempSync(join(tmpdir(), "cofferdam-coverage-"));
chmodSync(raw, 0o1777);

const failedRuns = runs().filter((line) => {
  const env = { ...process.env, NODE_V8_COVERAGE: raw };
  return spawnSync(process.execPath, line, { cwd: root, stdio: "inherit", env }).status !== 0;
});

const report = new CoverageReport({
  name: "Cofferdam",
  outputDir: join(root, "coverage"),
  cleanCache: true,
  clean: false,
  logging: "error",
  reports: ["lcovonly", "json-summary", ["text", { skipFull: true }]],
  entryFilter: (entry) => entry.url.startsWith(dist) && hasLines(fileURLToPath(entry.url)),
  sourceFilter: (path) => path.startsWith("src/"),
  sourcePath: (path) => path.replace(/^build\/(.*)\.js$/, "src/$1.ts"),
  // Modules that no process loaded count with all their lines, unless they hold nothing but types.
  all: {
    dir: join(root, "build"),
    filter: (path) => path.endsWith(".js") && !onlyTypes(path),
  },
});
readyCounts(raw);
await report.addFromDir(raw);
await report.generate();
rmSync(raw, { recursive: true });
// The usual definitions: a line counts by the statements that begin in it.
const { total } = JSON.parse(readFileSync(join(root, "coverage/coverage-summary.json"), "utf8"));

let failed = failedRuns.length > 0;
for (const [kind, least] of Object.entries(THRESHOLDS)) {
  const percent = total[kind].pct;
  console.log(`${kind}: ${percent} percent, at least ${least}`);
  failed ||= percent < least;
}
// Of a whole run only: a part of the tests cannot take every way back.
if (process.argv.length === 2) {
  const lcov = readFileSync(join(root, "coverage/lcov.info"), "utf8");
  const untaken = untakenCatches(root, lcov);
  for (const place of untaken) console.log(`no test takes the way back at ${place}`);
  failed ||= untaken.length > 0;
}
process.exit(failed ? 1 : 0);

/** Removes what a killed or limited process was still counting, and counts copies as what they are copies of. */
function readyCounts(folder) {
  let torn = 0;
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    const text = readFileSync(file, "utf8");
    const own = text.replaceAll(COPY, dist);
    if (!text.endsWith("}")) {
      rmSync(file);
      torn += 1;
    } else if (own !== text) writeFileSync(file, own);
  }
  if (torn > 0) console.log(`${torn} processes ended before they had counted`);
}

function onlyTypes(path) {
  return /^export \{\};\s*(\/\/#.*)?$/.test(readFileSync(path, "utf8"));
}

/** Whether a built file has code of its own: most only tell in which other one that is, and some had nothing but types. */
function hasLines(path) {
  const map = `${path}.map`;
  return existsSync(map) && JSON.parse(readFileSync(map, "utf8")).sources.length > 0;
}

function runs() {
  const vitest = ["node_modules/vitest/vitest.mjs", "run"];
  const given = process.argv.slice(2);
  if (given.length > 0) return [[...vitest, ...given]];
  return [
    [...vitest, "--project", "unit"],
    [...vitest, "--project", "faults", ...SWEEPING],
    ["scripts/test-unprivileged.mjs", ...AS_ORDINARY_USER],
  ];
}
