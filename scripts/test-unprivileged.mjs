// Runs the tests that need no root (all but *.root.test.ts) as a user without privilege: as "nobody"
// when started by root, else as the user who started it.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const NOBODY = { uid: 65_534, gid: 65_534 };
const root = fileURLToPath(new URL("..", import.meta.url));
const isRoot = process.getuid() === 0;
const folder = mkdtempSync(join(realpathSync(tmpdir()), "cofferdam-user-"));
// The folder that the caller wants the results in need not be open to the other user.
const wantedResults = process.env.COFFERDAM_TEST_RESULTS;
const results = join(folder, "results");
let status = 1;
try {
  if (isRoot) handOver(folder);
  mkdirSync(results);
  if (isRoot) handOver(results);
  status = runTests(isRoot ? readableCheckout() : root);
  if (wantedResults !== undefined) cpSync(results, wantedResults, { recursive: true });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(status);

function runTests(checkout) {
  const args = ["node_modules/vitest/vitest.mjs", "run", "--project", "unprivileged"];
  // The other way of loading the configuration writes into the checkout.
  const loader = ["--configLoader", "runner"];
  const done = spawnSync(process.execPath, [...args, ...loader, ...process.argv.slice(2)], {
    cwd: checkout,
    stdio: "inherit",
    env: { ...process.env, HOME: folder, TMPDIR: folder, COFFERDAM_TEST_RESULTS: results },
    ...(isRoot && NOBODY),
  });
  if (done.error) throw done.error;
  return done.status ?? 1;
}

function handOver(path) {
  chownSync(path, NOBODY.uid, NOBODY.gid);
  chmodSync(path, 0o755);
}

function readableCheckout() {
  // Type errors do not keep the tests from running, here as in any run.
  spawnSync(process.execPath, ["scripts/build.mjs"], { cwd: root, stdio: "ignore" });
  const probe = spawnSync("test", ["-r", join(root, "package.json")], { cwd: "/", ...NOBODY });
  if (probe.status === 0) return root;
  const copy = join(folder, "checkout");
  run("cp", ["-a", "--reflink=auto", root, copy]);
  run("chmod", ["-R", "a+rX", copy]);
  return copy;
}

function run(command, args) {
  const done = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (done.status !== 0) throw new Error(`${command} ${args[0]} failed`);
}
