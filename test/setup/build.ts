import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Builds `dist/` before the tests run. Type errors do not stop the run, because tsc writes the files
 * all the same and `npm run check` reports them; two runs in one checkout build one after the other.
 */
export function setup(): void {
  const compiler = ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"];
  const built = spawnSync("flock", ["node_modules", process.execPath, ...compiler], {
    cwd: root,
    encoding: "utf8",
  });
  if (built.error) throw built.error;
  const errors = built.stdout.split("\n").filter((line) => line.includes("error TS"));
  if (errors.length > 0) {
    process.stderr.write(`${errors.length} type errors in src/, the first: ${errors[0]}\n`);
  }
}
