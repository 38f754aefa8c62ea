// Builds dist/ from src/ with tsc and removes compiled files whose source is gone.
// With --if-possible it does nothing where the compiler is not installed (npm ci --omit=dev).
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const compiler = join(root, "node_modules/typescript/bin/tsc");

if (process.argv.includes("--if-possible") && !existsSync(compiler)) {
  console.log("dist/ is not built: the compiler is a development dependency and not installed.");
  process.exit(0);
}

// Two builds of one checkout run one after the other.
const tsc = [process.execPath, compiler, "-p", "tsconfig.build.json"];
const built = spawnSync("flock", [join(root, "node_modules"), ...tsc], {
  cwd: root,
  stdio: "inherit",
});
if (built.error) throw built.error;
removeStaleOutput();
// npm does so only when it links the command for the first time, and every build writes the file anew.
if (built.status === 0) chmodSync(join(root, "dist/cli/main.js"), 0o755);
process.exit(built.status ?? 1);

function removeStaleOutput() {
  for (const path of readdirSync(join(root, "dist"), { recursive: true })) {
    const source = /^(.*)\.(?:js|d\.ts)(?:\.map)?$/.exec(path)?.[1];
    if (source === undefined || existsSync(join(root, "src", `${source}.ts`))) continue;
    rmSync(join(root, "dist", path));
  }
}
