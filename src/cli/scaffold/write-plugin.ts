import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
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
