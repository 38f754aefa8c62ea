// Disturbs operations: kills them, lets calls fail, cuts the power, lets processes race.
// Usage: test-faults.mjs [SUITE] [--sample] [--shard I/N] [--seed N] [--only WHAT] [--record FILE] [--record-docs]
//        [arguments of vitest]
// SUITE is crash, errno, power, race or soak; without one a sample of all but soak is taken. A suite
// is run whole unless --sample is given. WHAT is one fault (killed, "killed without its children",
// "a child of it is killed", EIO, ENOSPC, EACCES or "EROFS from then on"), one file system (ext4, xfs or btrfs), what is written of disks
// ("only what is synced", "all of the first disk", "all of the second disk"), or "in turn": at each call not all of
// somebody else's changes, but the next one. --record adds the results to a list in
// a JSON file; --record-docs puts them in docs/reliability.json and renews docs/reliability.md.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { addResults } from "./faults/add-results.mjs";

const FOLDERS = {
  crash: ["test/faults/sweep"],
  errno: ["test/faults/sweep"],
  power: ["test/faults/power"],
  race: ["test/faults/race", "test/faults/mixed"],
  soak: ["test/faults/soak"],
};
const SAMPLED = ["crash", "power"].flatMap((suite) => FOLDERS[suite]);
const root = fileURLToPath(new URL("..", import.meta.url));
/** Tests that try many points one after the other, by the beginnings of their paths. */
const SWEEPING = JSON.parse(readFileSync(join(root, "scripts/faults/sweeping.json"), "utf8"));
const reports = [];
const settings = { seed: Math.floor(Math.random() * 0x7fff_ffff) };
const passed = [];
let isSample = false;
const given = process.argv.slice(2);
while (given.length > 0) {
  const argument = given.shift();
  if (argument === "--sample") isSample = true;
  else if (argument === "--shard") settings.shard = shardOf(given.shift());
  else if (argument === "--only") settings.only = given.shift();
  else if (argument === "--seed") settings.seed = Number(given.shift());
  else if (argument === "--record") reports.push(resolve(given.shift() ?? ""));
  else if (argument === "--record-docs") reports.push(resolve(root, "docs/reliability.json"));
  else if (Object.hasOwn(FOLDERS, argument)) settings.suite = argument;
  else passed.push(argument);
}
settings.all = settings.suite !== undefined && !isSample;
const folder = mkdtempSync(join(tmpdir(), "cofferdam-faults-"));
settings.record = join(folder, "tallies");
console.log(`points are chosen by seed ${settings.seed}`);

const wanted = settings.suite === undefined ? [...SAMPLED, ...SWEEPING] : FOLDERS[settings.suite];
const files = passed.some((argument) => argument.includes("test/faults/"))
  ? passed
  : [...passed, ...wanted];
const vitest = ["node_modules/vitest/vitest.mjs", "run", "--project", "faults", ...files];
const done = spawnSync(process.execPath, vitest, {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, COFFERDAM_FAULTS: JSON.stringify(settings) },
});
const results = existsSync(settings.record) ? linesOf(settings.record) : [];
for (const report of reports) await addResults(report, results);
if (reports.some((report) => report.startsWith(join(root, "docs/")))) renewDocs();
rmSync(folder, { recursive: true });
printSum(results);
if (done.error) throw done.error;
process.exit(done.status ?? 1);

function linesOf(file) {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** How much ran, whatever the tests printed in between. */
function printSum(list) {
  const sum = (field) => list.reduce((total, result) => total + result[field], 0);
  const [tried, fired, violations] = ["tried", "fired", "violations"].map(sum);
  console.log(`${tried} points ran, ${fired} fired, ${violations} violations`);
}

function renewDocs() {
  const made = spawnSync(process.execPath, ["scripts/generate-docs.mjs"], {
    cwd: root,
    stdio: "inherit",
  });
  if (made.status !== 0) process.exitCode = 1;
}

function shardOf(text = "") {
  if (!/^[1-9]\d*\/[1-9]\d*$/.test(text)) throw new Error(`not a shard: ${text}; name it as 1/4`);
  return text;
}
