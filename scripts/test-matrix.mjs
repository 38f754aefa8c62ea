// Conformance and fidelity over modes and file systems, then the run as an ordinary user; the second
// also when the first failed, to give the whole picture. Arguments go to the first.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const runs = [
  ["node_modules/vitest/vitest.mjs", "run", "--project", "matrix", ...process.argv.slice(2)],
  ["scripts/test-unprivileged.mjs"],
];
const failed = runs.filter(
  (args) => spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status !== 0,
);
process.exit(failed.length > 0 ? 1 : 0);
