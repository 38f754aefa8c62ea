import { type BytePath, joinPath } from "../../model/byte-path.ts";
import { readDirectory, throwUnlessErrno } from "../../platform/native/index.ts";
import { runTask } from "../../tree/threads/pool.ts";
import { withFolder } from "./sandbox-files.ts";

/** Removes the entries of a folder that are meant; gives what could not be removed. Nothing where there is no such folder. */
export async function removeNames(
  folder: BytePath,
  isMeant: (name: string) => boolean,
): Promise<string[]> {
  const remaining: string[] = [];
  for (const name of await namesIn(folder)) {
    if (isMeant(name))
      remaining.push(...(await runTask("removeFolder", joinPath(folder, name as BytePath))));
  }
  return remaining;
}

async function namesIn(folder: BytePath): Promise<string[]> {
  try {
    return await withFolder(folder, (fd) => readDirectory(fd).map(({ name }) => name));
  } catch (error) {
    throwUnlessErrno(error, "ENOENT");
    return [];
  }
}
