import { spawnSync } from "node:child_process";
import { accessSync, chmodSync, constants, copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nobody } from "../support/nobody.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Builds `dist/` before the tests run, and, when other users cannot read this checkout or start this
 * Node, leaves copies in the run's folder for the children that run without privilege.
 */
export function setup(): void {
  const folder = process.env["COFFERDAM_TEST_RUN"];
  if (folder === undefined) throw new Error("test/setup/run-folder.ts has to come first");
  // An installed package has been built, and nothing else is used.
  const isInstalled = process.env["COFFERDAM_PACKED"] !== undefined;
  if (!isInstalled && isWritable(root)) build();
  if (process.getuid?.() !== 0) return;
  if (!isInstalled && !isReadableForOthers(join(root, "node_modules/koffi/package.json"))) {
    process.env["COFFERDAM_TEST_CHECKOUT"] = copyCheckout(join(folder, "checkout"));
  }
  if (!isReadableForOthers(process.execPath)) {
    const node = join(folder, "node");
    copyFileSync(process.execPath, node);
    chmodSync(node, 0o755);
    process.env["COFFERDAM_TEST_NODE"] = node;
  }
}

/** Type errors do not stop the run: tsc writes the files all the same, `npm run check` reports. */
function build(): void {
  const built = spawnSync(process.execPath, ["scripts/build.mjs"], { cwd: root, encoding: "utf8" });
  if (built.error) throw built.error;
  const errors = built.stdout.split("\n").filter((line) => line.includes("error TS"));
  if (errors.length > 0) {
    process.stderr.write(`${errors.length} type errors in src/, the first: ${errors[0]}\n`);
  } else if (built.status !== 0) {
    throw new Error(`the build failed: ${built.stdout}${built.stderr}`);
  }
}

/** The built package with all that the tests have installed, also what it asks its users for; readable for everybody. */
function copyCheckout(target: string): string {
  mkdirSync(target);
  run("cp", ["-a", "package.json", "dist", "examples", "plugins", "node_modules", target]);
  run("chmod", ["-R", "a+rX", target]);
  return target;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function isReadableForOthers(path: string): boolean {
  return spawnSync("test", ["-r", path], { uid: nobody.uid, gid: nobody.gid }).status === 0;
}

function run(command: string, args: readonly string[]): string {
  const done = spawnSync(command, args, { cwd: root, encoding: "utf8" });
  if (done.error) throw done.error;
  if (done.status !== 0) throw new Error(`${command} ${args[0]} failed: ${done.stderr}`);
  return done.stdout;
}
