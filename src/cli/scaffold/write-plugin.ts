import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { quoted } from "../quoted.ts";
import { usageError } from "../usage-error.ts";

const PACKAGE = new URL("../../../", import.meta.url);

/** The strategy of the examples that a new one begins with. */
export function readExample(): Promise<string> {
  return readFile(new URL("examples/content-store/strategy.ts", PACKAGE), "utf8");
}

/** The version of this package. */
export async function readVersion(): Promise<string> {
  const text = await readFile(new URL("package.json", PACKAGE), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** How the test of a plug-in in a folder of this name is run: it needs this package, and may find it by itself. */
export function firstTestIn(name: string): string {
  const origin = relative(resolve(name), fileURLToPath(PACKAGE));
  const isFound = /^(?:\.\.\/)+node_modules\/cofferdam$/.test(origin);
  // What is installed already is built: npm would build it once more, and write this path into the package.
  return isFound
    ? "npm test"
    : `npm install --ignore-scripts --no-save ${quoted(origin)} && npm test`;
}

/** Makes a folder with these files; gives its absolute path. Takes the folder away again when one cannot be written. */
export async function writePlugin(
  name: string,
  files: ReadonlyMap<string, string>,
): Promise<string> {
  const folder = resolve(name);
  try {
    await mkdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw usageError(`${name} is there already`, "Choose another name, or another folder.");
  }
  try {
    for (const [file, text] of files) await writeFile(join(folder, file), text);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return folder;
}
