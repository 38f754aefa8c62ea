import {
  type Stats,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  rmdirSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { throwUnlessErrno } from "../platform/native/native-error.ts";
import type { ShownSandbox } from "./shown-sandbox.ts";

/** An empty file in a workspace, over which a view shows something else. */
export interface Placeholder {
  /** Absolute path in the workspace. */
  readonly file: string;
  /** The outermost folder that has to be made for it; null where its folder is there. */
  readonly folder: string | null;
}

/**
 * What is needed in a workspace so that a view can show a copy at its place: as when a git worktree does not have the
 * database, which git ignores. Null where nothing is.
 */
export function placeholderFor(
  location: string,
  sandboxes: readonly ShownSandbox[],
): Placeholder | null {
  const [outer] = sandboxes
    .filter((one) => !("copy" in one) && location.startsWith(`${one.location}/`))
    .toSorted((a, b) => b.location.length - a.location.length);
  if (outer === undefined || !("workspace" in outer)) return null;
  const file = join(realpathSync(outer.workspace), relative(outer.location, location));
  if (lookAt(file) !== undefined) return null;
  let [folder, around] = [null as string | null, dirname(file)];
  for (; !existsSync(around); around = dirname(around)) folder = around;
  // Whoever put something else in the place of a folder does not want the database there, and a link may lead out.
  return isReal(around) && statSync(around).isDirectory() ? { file, folder } : null;
}

/** Makes a placeholder that was recorded before. */
export function makePlaceholder({ file }: Placeholder): void {
  mkdirSync(dirname(file), { recursive: true });
  closeSync(openSync(file, "wx"));
}

/** Removes what was made, unless somebody has put something there meanwhile. Idempotent. */
export function removePlaceholder({ file, folder }: Placeholder): void {
  // The command may have left a link on the way: then whatever is there is not ours.
  if (existsSync(dirname(file)) && !isReal(dirname(file))) return;
  const found = lookAt(file);
  if (found?.isFile() === true && found.size === 0) unlinkSync(file);
  if (folder === null) return;
  for (let at = dirname(file); at.startsWith(folder); at = dirname(at)) {
    try {
      rmdirSync(at);
    } catch (error) {
      throwUnlessErrno(error, "ENOTEMPTY", "EEXIST", "ENOENT", "ENOTDIR");
    }
  }
}

/** Whether no link leads there. */
function isReal(path: string): boolean {
  return realpathSync(path) === path;
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // A file stands in the place of a folder on the way.
    throwUnlessErrno(error, "ENOTDIR");
    return undefined;
  }
}
