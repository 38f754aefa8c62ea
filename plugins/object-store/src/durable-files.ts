import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Waits until the names in a folder are on disk. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Replaces a file whole: whoever looks, also after a power loss, finds the old content or the new. */
export async function replaceFile(path: string, content: string): Promise<void> {
  const temporary = join(dirname(path), `.${randomUUID()}.tmp`);
  try {
    const file = await open(temporary, "wx", 0o600);
    await written(file, content);
    await rename(temporary, path);
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw thrown;
  }
  await syncFolder(dirname(path));
}

/** Makes a folder that is private to this user, and the ones on the way to it. */
export async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await syncFolder(dirname(path));
}

/** The text of a file; null when there is none. */
export async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw thrown;
  }
}

/** Puts lines at the end of a file, on the disk. What a killed process left of its last line is taken off first. */
export async function appendLines(path: string, lines: readonly string[]): Promise<void> {
  const text = lines.map((line) => `${line}\n`).join("");
  if (lines.length === 0) return;
  if (!(await endsWhole(path))) {
    const kept = (await linesOf(path)).map((line) => `${line}\n`).join("");
    return replaceFile(path, kept + text);
  }
  await written(await open(path, "a"), text);
}

/** The whole lines of a file; none when there is no file. */
export async function linesOf(path: string): Promise<string[]> {
  const text = (await textOf(path)) ?? "";
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "");
}

/** Whether a file is there and holds nothing but whole lines, of which there is at least one. */
async function endsWhole(path: string): Promise<boolean> {
  let file: FileHandle;
  try {
    file = await open(path, "r");
  } catch (thrown) {
    if (isMissing(thrown)) return false;
    throw thrown;
  }
  try {
    const { size } = await file.stat();
    if (size === 0) return false;
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer.toString("latin1") === "\n";
  } finally {
    await file.close();
  }
}

async function written(file: FileHandle, content: string): Promise<void> {
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT";
}
