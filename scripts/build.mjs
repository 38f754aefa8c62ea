// Builds dist/ from src/: tsc writes the types there and the modules to build/, which are then joined into few files.
// With --if-possible it does nothing where the compiler is not installed (npm ci --omit=dev).
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const compiler = join(root, "node_modules/typescript/bin/tsc");
const modules = join(root, "build");
const dist = join(root, "dist");
/** Written after each whole build; what is older is in it. */
const stamp = join(modules, ".bundled");

if (process.argv.includes("--if-possible") && !existsSync(compiler)) {
  console.log("dist/ is not built: the compiler is a development dependency and not installed.");
  process.exit(0);
}
if (process.argv.includes("--alone")) {
  process.exitCode = await build();
} else {
  // Two builds of one checkout run one after the other.
  const self = [process.execPath, fileURLToPath(import.meta.url), "--alone"];
  const built = spawnSync("flock", [join(root, "node_modules"), ...self], { stdio: "inherit" });
  if (built.error) throw built.error;
  process.exitCode = built.status ?? 1;
}

async function build() {
  // tsc believes its notes, also where somebody has removed what it wrote.
  if (!existsSync(join(dist, "index.d.ts"))) rmSync(modules, { recursive: true, force: true });
  const args = [compiler, "-p", "tsconfig.build.json"];
  const compiled = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  if (compiled.error) throw compiled.error;
  removeFrom(modules, isWithoutSource);
  removeFrom(dist, (path) => path.includes(".d.ts") && isWithoutSource(path));
  if (!isBundled()) {
    const { bundle } = await import("./bundle.mjs");
    const written = new Set(await bundle(modules, dist));
    removeFrom(dist, (path) => /\.c?js(?:\.map)?$/.test(path) && !written.has(path));
    // npm does so only when it links the command for the first time, and a build may write the file anew.
    for (const name of ["main.cjs", "main.js"]) chmodSync(join(dist, "cli", name), 0o755);
    writeFileSync(stamp, "");
  }
  return compiled.status ?? 1;
}

function removeFrom(folder, isStale) {
  const stale = readdirSync(folder, { recursive: true }).filter(isStale);
  for (const path of stale) rmSync(join(folder, path));
}

function isWithoutSource(path) {
  const source = /^(.*)\.(?:js|d\.ts)(?:\.map)?$/.exec(path)?.[1];
  return source !== undefined && !existsSync(join(root, "src", `${source}.ts`));
}

function isBundled() {
  if (!existsSync(stamp) || !existsSync(join(dist, "cli/main.cjs"))) return false;
  const { mtimeMs } = statSync(stamp);
  // A folder is younger than the stamp as soon as a file has gone.
  const parts = readdirSync(modules, { recursive: true }).map((path) => join(modules, path));
  const programs = ["build.mjs", "bundle.mjs"].map((name) => join(root, "scripts", name));
  return [...parts, ...programs].every((path) => statSync(path).mtimeMs <= mtimeMs);
}
