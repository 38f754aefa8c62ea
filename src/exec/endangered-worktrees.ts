import { existsSync, readFileSync, readdirSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { throwUnlessErrno } from "../platform/native/native-error.ts";

/**
 * Names of the worktrees of a repository that are there, though a command does not see them at the place which the
 * repository has for them: git in it would take them for gone, and remove what only they have. Locked ones are safe.
 */
export function endangeredWorktrees(
  repository: string,
  isSeen: (path: string) => boolean,
): readonly string[] {
  const folder = join(repository, "worktrees");
  return namesIn(folder).filter((name) => {
    const own = join(folder, name);
    const place = placeOf(own);
    if (place === null || existsSync(join(own, "locked"))) return false;
    return existsSync(resolve(own, place)) && !(isAbsolute(place) && isSeen(place));
  });
}

/**
 * Where the repository, seen at `repository`, has the place of a worktree, and what stands there instead: a place that
 * is there, so that git keeps the worktree, and is no folder, so that it removes and moves nothing for it.
 */
export function keptPlace(
  repository: string,
  name: string,
): { readonly file: string; readonly text: string } {
  const own = join(repository, "worktrees", name);
  return { file: join(own, "gitdir"), text: `${join(own, "HEAD")}\n` };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR", "EACCES");
    return [];
  }
}

function placeOf(own: string): string | null {
  try {
    return readFileSync(join(own, "gitdir"), "utf8").trimEnd();
  } catch (error) {
    // It has just gone, or git has nothing to find it by.
    throwUnlessErrno(error, "ENOENT", "ENOTDIR", "EACCES", "EISDIR");
    return null;
  }
}
