import { createHash } from "node:crypto";
import { lstat, readFile, readdir, readlink } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { compareStates } from "cofferdam";
import type { Change, EntryState, TreeState } from "cofferdam";

/** Path to entry; the root itself is left out. */
export type Tree = TreeState;

/** Everything in a folder, special files left out. Links are entries, not ways. */
export async function readTree(root: string): Promise<Tree> {
  const tree = new Map<string, EntryState>();
  const folders = [""];
  for (const folder of folders) {
    for (const name of await readdir(join(root, folder))) {
      const path = join(folder, name);
      const state = await stateOf(join(root, path));
      if (state === null || state.type === "special") continue;
      tree.set(path, state);
      if (state.type === "directory") folders.push(path);
    }
  }
  return tree;
}

/** One entry; null when there is none. */
export async function stateOf(path: string): Promise<EntryState | null> {
  const found = await lstat(path, { bigint: true }).catch(() => null);
  if (found === null) return null;
  const [isFile, isLink] = [found.isFile(), found.isSymbolicLink()];
  const other = found.isDirectory() ? "directory" : "special";
  return {
    type: isFile ? "file" : isLink ? "symlink" : other,
    size: isFile ? Number(found.size) : 0,
    mode: Number(found.mode) & 0o7777,
    uid: Number(found.uid),
    gid: Number(found.gid),
    hash: isFile ? sha256(await readFile(path)) : null,
    target: isLink ? await readlink(path) : null,
    mtimeNs: String(found.mtimeNs),
  };
}

/** What has to be done to one tree to make it the other. */
export function compare(before: Tree, after: Tree): Change[] {
  const kept = [...after].map(
    ([path, state]) => [path, withBits(before.get(path), state)] as const,
  );
  return compareStates(before, new Map(kept));
}

/** Copies carry no special bits, so bits that are missing there were not taken away. */
export function withBits(before: EntryState | undefined, found: EntryState): EntryState {
  return found.type === before?.type
    ? { ...found, mode: found.mode | (before.mode & 0o7000) }
    : found;
}

/** Whether the text of a link leads out of the tree that it stands in. */
export function isOutward(path: string, target: string): boolean {
  return isAbsolute(target) || normalize(join(dirname(path), target)).startsWith("..");
}

function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
