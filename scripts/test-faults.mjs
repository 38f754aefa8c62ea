// Disturbs operations at their system calls: kills them, or lets calls fail.
// Usage: test-faults.mjs [--all] [--shard I/N] [--seed N] [--only FAULT] [--record FILE] [arguments of vitest]
// FAULT is killed, EIO, ENOSPC, EACCES or "EROFS from then on".
// Without --all a sample is taken: a tenth of the points of every operation. With --all results are
// appended to docs/reliability.json unless --record names another file.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
let report = null;
const settings = { all: false, seed: Math.floor(Math.random() * 0x7fff_ffff) };
const passed = [];
const given = process.argv.slice(2);
while (given.length > 0) {
  const argument = given.shift();
  if (argument === "--all") settings.all = true;
  else if (argument === "--shard") settings.shard = shardOf(given.shift());
  else if (argument === "--only") settings.only = given.shift();
  else if (argument === "--seed") settings.seed = Number(given.shift());
  else if (argument === "--record") report = resolve(given.shift() ?? "");
  else passed.push(argument);
}
if (settings.all) report ??= resolve(root, "docs/reliability.json");
const folder = mkdtempSync(join(tmpdir(), "cofferdam-faults-"));
if (report !== null) settings.record = join(folder, "tallies");
console.log(`points are chosen by seed ${settings.seed}`);

const vitest = ["node_modules/vitest/vitest.mjs", "run", "--project", "faults", ...passed];
const done = spawnSync(process.execPath, vitest, {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, COFFERDAM_FAULTS: JSON.stringify(settings) },
});
if (report !== null) addTo(report, settings.record);
rmSync(folder, { recursive: true });
if (done.error) throw done.error;
process.exit(done.status ?? 1);

/** Adds what the tests counted, with the commit that they ran on, to a list in a JSON file. */
function addTo(file, tallies) {
  if (!existsSync(tallies)) return;
  const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" }).trim();
  const { all, shard = "1/1" } = settings;
  const lines = readFileSync(tallies, "utf8").trimEnd().split("\n");
  const added = lines.map((line) => ({ commit, all, shard, ...JSON.parse(line) }));
  const known = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
  writeFileSync(file, `${JSON.stringify([...known, ...added], null, 2)}\n`);
}

function shardOf(text = "") {
  if (!/^[1-9]\d*\/[1-9]\d*$/.test(text)) throw new Error(`not a shard: ${text}; name it as 1/4`);
  return text;
}
