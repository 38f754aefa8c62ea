import { type BytePath, joinPath } from "../../model/byte-path.ts";
import { readDirectory, throwUnlessErrno } from "../../platform/native/index.ts";
import { removeFolder } from "../../tree/remove-folders.ts";
import { withRoot } from "../../tree/scan/open-directory.ts";
import { runTask } from "../../tree/threads/pool.ts";
import { NAMES, withFolder } from "./sandbox-files.ts";

const FEW_ENTRIES = 100;

/** Removes the entries of a folder that are meant; gives what could not be removed. Nothing where there is no such folder. */
export async function removeNames(
  folder: BytePath,
  isMeant: (name: string) => boolean,
): Promise<string[]> {
  const remaining: string[] = [];
  for (const name of await namesIn(folder)) {
    if (!isMeant(name)) continue;
    const path = joinPath(folder, name as BytePath);
    // What the kernel works in is closed to ordinary users, and holds next to nothing.
    const isQuick = name === NAMES.work || isSmall(path);
    remaining.push(...(isQuick ? removeFolder(path) : await runTask("removeFolder", path)));
  }
  return remaining;
}

/** Whether a thread would take longer to start than this takes to remove. */
function isSmall(path: BytePath): boolean {
  let left = FEW_ENTRIES;
  const look = (folder: BytePath): void => {
    if (left <= 0) return;
    for (const { name, type } of withRoot(folder, (fd) => readDirectory(fd))) {
      left -= 1;
      if (type === "directory") look(joinPath(folder, name));
    }
  };
  try {
    look(path);
  } catch (error) {
    // A file, or a folder that is closed even to its owner.
    throwUnlessErrno(error, "ENOTDIR", "ENOENT", "EACCES", "ELOOP");
    return left === FEW_ENTRIES;
  }
  return left > 0;
}

async function namesIn(folder: BytePath): Promise<string[]> {
  try {
    return await withFolder(folder, (fd) => readDirectory(fd).map(({ name }) => name));
  } catch (error) {
    throwUnlessErrno(error, "ENOENT");
    return [];
  }
}
