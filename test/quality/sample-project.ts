import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTempFolder } from "../support/temp.ts";

/** The checkout whose rules are tried. */
export const checkout = fileURLToPath(new URL("../../", import.meta.url));

/** Makes a small project under the rules of this one, to show that they bite; the caller removes it. */
export function sampleProject(files: Readonly<Record<string, string>>): string {
  const folder = createTempFolder();
  for (const name of [
    ".dependency-cruiser.cjs",
    ".oxlintrc.json",
    "package.json",
    "tsconfig.json",
  ]) {
    copyFileSync(join(checkout, name), join(folder, name));
  }
  for (const name of ["node_modules", "scripts"]) {
    symlinkSync(join(checkout, name), join(folder, name));
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Runs a development tool of the checkout and gives back its exit code and all it said. */
export function runTool(
  cwd: string,
  tool: string,
  args: readonly string[],
): { readonly code: number | null; readonly output: string } {
  const done = spawnSync(join(checkout, "node_modules/.bin", tool), args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
    maxBuffer: 64 * 1024 ** 2,
  });
  if (done.error) throw done.error;
  return { code: done.status, output: done.stdout + done.stderr };
}
