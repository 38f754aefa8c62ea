import { createHash } from "node:crypto";
import { lstat, readFile, readdir, readlink } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize } from "node:path";
import type { Change, ChangeKind, EntryState } from "cofferdam";

/** Path to entry; the root itself is left out. */
export type Tree = Readonly<Record<string, EntryState>>;

/** Everything in a folder, special files left out. Links are entries, not ways. */
export async function readTree(root: string): Promise<Tree> {
  const tree: Record<string, EntryState> = {};
  const folders = [""];
  for (const folder of folders) {
    for (const name of await readdir(join(root, folder))) {
      const path = join(folder, name);
      const state = await stateOf(join(root, path));
      if (state === null || state.type === "special") continue;
      tree[path] = state;
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

/** The entry at a path; null when there is none, whatever every object has besides. */
export function entryAt(tree: Tree, path: string): EntryState | null {
  return (Object.hasOwn(tree, path) ? tree[path] : null) ?? null;
}

/** What has to be done to one tree to make it the other. */
export function compare(before: Tree, after: Tree): Change[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort(byBytes);
  return paths
    .map((path) => describe(path, entryAt(before, path), entryAt(after, path)))
    .filter(({ kind }) => kind !== "unchanged");
}

/** The change of one path. Copies carry no special bits, so bits that are missing there were not taken away. */
export function describe(
  path: string,
  before: EntryState | null,
  found: EntryState | null,
): Change {
  const bits = before !== null && found?.type === before.type ? before.mode & 0o7000 : 0;
  const after = found && { ...found, mode: found.mode | bits };
  return { path, kind: kindOf(before, after), before, after };
}

/** Whether two entries are the same as far as this strategy can tell; a folder's time follows its entries. */
export function isSame(a: EntryState | null, b: EntryState | null): boolean {
  return kindOf(a, b) === "unchanged";
}

/** Whether the text of a link leads out of the tree that it stands in. */
export function isOutward(path: string, target: string): boolean {
  return isAbsolute(target) || normalize(join(dirname(path), target)).startsWith("..");
}

function kindOf(before: EntryState | null, after: EntryState | null): ChangeKind {
  if (before === null) return after === null ? "unchanged" : "added";
  if (after === null) return "deleted";
  if (before.type !== after.type) return "typeChanged";
  if (before.target !== after.target) return "linkChanged";
  if (before.hash !== after.hash) return "modified";
  if (before.mode !== after.mode) return "modeChanged";
  const sameTime = after.type === "directory" || before.mtimeNs === after.mtimeNs;
  const sameOwner = before.uid === after.uid && before.gid === after.gid;
  return sameTime && sameOwner ? "unchanged" : "attributesChanged";
}

function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
