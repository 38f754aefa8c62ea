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
  const line = [...(isRoot ? asNobody() : []), process.execPath, ...args, ...loader];
  const done = spawnSync(line[0], [...line.slice(1), ...process.argv.slice(2)], {
    cwd: checkout,
    stdio: "inherit",
    env: {
      ...process.env,
      HOME: folder,
      TMPDIR: folder,
      // What npm hands down to scripts names places of the user who started the run.
      npm_config_cache: join(folder, ".npm"),
      npm_config_userconfig: join(folder, ".npmrc"),
      COFFERDAM_TEST_RESULTS: results,
    },
  });
  if (done.error) throw done.error;
  return done.status ?? 1;
}

// In a mount namespace of its own, in which the device of FUSE is open to that user as on any installed
// system; a container's own is often root's alone.
function asNobody() {
  const script = [
    'mknod -m 0666 "$1" c 10 229',
    'mount --bind "$1" /dev/fuse',
    "shift",
    `exec setpriv --reuid=${NOBODY.uid} --regid=${NOBODY.gid} --clear-groups -- "$@"`,
  ].join(" && ");
  const unshare = ["unshare", "--mount", "--propagation", "private", "--"];
  return [...unshare, "sh", "-c", script, "sh", join(folder, "fuse")];
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
