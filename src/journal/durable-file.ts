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
  rmdirSync,
  unlinkSync,
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

/** A file that is going to be replaced whole. */
export interface Replacement {
  readonly path: string;
  readonly content: string | Uint8Array;
  /**
   * Where it is written first, on the same file system, and where a killed process leaves it half written; the folder of
   * the file unless given.
   */
  readonly draftFolder?: string | undefined;
  /** Its mode, less what the process takes away from all new files; its owner's alone unless given. */
  readonly mode?: number | undefined;
}

/** What a file is going to be, written under another name. */
export interface Draft extends Replacement {
  readonly temporary: string;
}

/** Replaces a file whole: whoever looks, also after a power loss, finds the old content or the new. */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  draftFolder?: string,
): Promise<void> {
  await replaceFiles([{ path, content, draftFolder }]);
}

/**
 * The same for several files in the time of one. Each of them is old or new after a power loss, also beside others that
 * are not: for what nobody relies on before the promise settles.
 */
export async function replaceFiles(files: readonly Replacement[]): Promise<void> {
  await nameDrafts(await draftFiles(files));
}

/** Writes what files are going to be, and waits until it is on disk: all that is missing then is the names. */
export async function draftFiles<const T extends readonly Replacement[]>(
  files: T,
): Promise<{ readonly [K in keyof T]: Draft }> {
  const drafts = files.map(draftOf) as { readonly [K in keyof T]: Draft };
  await writeDrafts(drafts);
  return drafts;
}

/** Gives drafts their names, in order; durable when the promise settles. */
export async function nameDrafts(drafts: readonly Draft[]): Promise<void> {
  for (const [at, { path, temporary }] of drafts.entries()) {
    try {
      renameSync(temporary, path);
    } catch (error) {
      dropDrafts(drafts.slice(at));
      throw error;
    }
  }
  const folders = new Set(drafts.map(({ path }) => dirname(path)));
  await all([...folders].map(syncFolder));
}

/** Removes drafts that nobody needs any more. */
export function dropDrafts(drafts: readonly Draft[]): void {
  for (const { temporary } of drafts) removeIfPossible(temporary);
}

/**
 * Creates a file whole; of several who try, exactly one succeeds, and false tells the others so. Durable in both
 * cases: a loser may rely on what it then reads.
 */
export async function createFileOnce(path: string, content: string): Promise<boolean> {
  const draft = draftOf({ path, content });
  await writeDrafts([draft]);
  try {
    return await nameOnce(path, draft.temporary);
  } finally {
    removeIfPossible(draft.temporary);
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

/** Removes a folder that has only files in it, in less time than one that may have more. */
export function removeFilesIn(folder: string): void {
  for (const name of readdirSync(folder)) unlinkSync(join(folder, name));
  rmdirSync(folder);
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
  await writeTogether(
    Object.entries(contents).map(([name, content]) => ({ path: join(folder, name), content })),
  );
  await syncFolder(folder);
}

function draftOf(file: Replacement): Draft {
  const { path, draftFolder = dirname(path) } = file;
  return { ...file, temporary: join(draftFolder, `.${randomBytes(16).toString("hex")}.tmp`) };
}

async function writeDrafts(drafts: readonly Draft[]): Promise<void> {
  try {
    await writeTogether(drafts.map(({ temporary, ...file }) => ({ ...file, path: temporary })));
  } catch (error) {
    dropDrafts(drafts);
    throw error;
  }
}

/** Writes new files one after the other, so that the calls have an order, and syncs them at the same time. */
async function writeTogether(files: readonly Replacement[]): Promise<void> {
  const written: number[] = [];
  try {
    for (const { path, content, mode } of files) written.push(writeNew(path, content, mode));
    await all(written.map((fd) => flush(fd)));
  } finally {
    for (const fd of written) closeSync(fd);
  }
}

/** Waits for all, also after a failure: nothing is closed while somebody still uses it. */
async function all(work: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

/** Writes a file that must not be there yet, and leaves it open for whoever syncs and closes it. */
function writeNew(path: string, content: string | Uint8Array, mode = 0o600): number {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const fd = openSync(path, flags, mode);
  try {
    writeFileSync(fd, content);
    return fd;
  } catch (error) {
    closeSync(fd);
    rmSync(path, { force: true });
    throw error;
  }
}
