import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fsync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { throwUnlessErrno } from "../platform/native/native-error.ts";

const TEMPORARY = /^\.[0-9a-f]{32}\.tmp$/;

/** The one file call that can take long: it must not hold up the caller's event loop. */
const flush = promisify(fsync);

/** Waits until the names in a folder are on disk. */
export async function syncFolder(path: string): Promise<void> {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await flush(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Replaces a file whole: whoever looks, also after a power loss, finds the old content or the new. It is written in
 * `draftFolder`, on the same file system, which is where a killed process leaves it half written.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  draftFolder = dirname(path),
): Promise<void> {
  const folder = dirname(path);
  const temporary = await writeTemporary(draftFolder, content);
  try {
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/**
 * Creates a file whole; of several who try, exactly one succeeds, and false tells the others so. Durable in both
 * cases: a loser may rely on what it then reads.
 */
export async function createFileOnce(path: string, content: string): Promise<boolean> {
  const temporary = await writeTemporary(dirname(path), content);
  try {
    return await nameOnce(path, temporary);
  } finally {
    removeIfPossible(temporary);
  }
}

/** The same with a draft in the same folder that is durable already, and stays. */
export async function nameOnce(path: string, draft: string): Promise<boolean> {
  let won = true;
  try {
    linkSync(draft, path);
  } catch (error) {
    throwUnlessErrno(error, "EEXIST");
    won = false;
  }
  await syncFolder(dirname(path));
  return won;
}

/** Removes a file whose staying would harm nobody. */
export function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Told apart by its name, and removed by whoever clears the folder away.
  }
}

/** Whether a name is that of a file which a killed process may have left half written. */
function isTemporaryName(name: string): boolean {
  return TEMPORARY.test(name);
}

/** Removes what killed processes left half written in a folder. The caller knows that nobody writes there. */
export function removeTemporaries(folder: string): void {
  for (const name of readdirSync(folder).filter(isTemporaryName)) {
    rmSync(join(folder, name), { force: true });
  }
}

/** Fills a new folder that nobody looks into yet. What is in it is durable then; that the folder itself is there is not. */
export async function fillFolder(
  folder: string,
  contents: Readonly<Record<string, string>>,
): Promise<void> {
  const written: number[] = [];
  try {
    for (const [name, content] of Object.entries(contents))
      written.push(writeNew(join(folder, name), content));
    await Promise.all(written.map((fd) => flush(fd)));
  } finally {
    for (const fd of written) closeSync(fd);
  }
  await syncFolder(folder);
}

async function writeTemporary(folder: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, `.${randomBytes(16).toString("hex")}.tmp`);
  await writeDurably(path, content);
  return path;
}

async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const fd = writeNew(path, content);
  try {
    await flush(fd);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Writes a file that must not be there yet, and leaves it open for whoever syncs and closes it. */
function writeNew(path: string, content: string | Uint8Array): number {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const fd = openSync(path, flags, 0o600);
  try {
    writeFileSync(fd, content);
    return fd;
  } catch (error) {
    closeSync(fd);
    rmSync(path, { force: true });
    throw error;
  }
}
