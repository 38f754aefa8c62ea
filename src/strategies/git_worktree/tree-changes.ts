import { type BytePath, type RelativePath, ancestorsOf } from "../../model/byte-path.ts";
import type { ConflictReason } from "../../model/conflict.ts";
import { readDirectory } from "../../platform/native/index.ts";
import { statBeneath } from "../../tree/beneath.ts";
import { type Found, lookUpReal } from "../../tree/conflicts.ts";
import { withFolder, withRoot } from "../../tree/scan/open-directory.ts";
import type { TreeChange } from "../../tree/tree-change.ts";
import type { TreeEntry } from "../../tree/tree-entry.ts";
import type { PathConflict } from "./failures.ts";
import type { RawChange } from "./git-output.ts";

/** The changes of a merge as the tree engine publishes them. */
export interface CheckoutChanges {
  readonly changes: readonly TreeChange[];
  /** What stands where nothing must be, or is gone. */
  readonly conflicts: readonly PathConflict[];
}

/**
 * Turns what differs between two trees into changes of the checkout: with the folders that come and go, the attributes
 * that the user's files have, and the present entries as what has to be there still when it is published. Reads no
 * content. `files` holds the new files.
 */
export function checkoutChanges(
  root: BytePath,
  files: BytePath,
  raw: readonly RawChange[],
): CheckoutChanges {
  const changes = new Map<RelativePath, TreeChange>();
  const conflicts: PathConflict[] = [];
  const removed = new Set(raw.filter(({ after }) => after === null).map(({ path }) => path));
  const gone = new Set([...removed, ...emptiedFolders(root, removed, raw)]);
  const owner = ownerOf(root);
  for (const { path, before, after } of raw) {
    const found = lookUpReal(root, path);
    const reason = obstacle(root, found, before !== null, gone, path);
    if (reason !== null) conflicts.push({ path, reason });
    else if (!changes.has(path))
      changes.set(path, changeAt(path, found.real, after === null ? null : files, owner));
    if (after !== null && reason === null) addFolders(changes, root, files, path, owner);
  }
  for (const path of gone) {
    if (changes.has(path)) continue;
    const { real } = lookUpReal(root, path);
    if (real !== null) changes.set(path, changeAt(path, real, null, owner));
  }
  return { changes: [...changes.values()], conflicts };
}

/** What of the user's is in the way of a change; entries that go with the same commit make room. */
function obstacle(
  root: BytePath,
  { real, missingParent }: Found,
  isKnown: boolean,
  gone: ReadonlySet<RelativePath>,
  path: RelativePath,
): ConflictReason | null {
  if (isKnown) return real === null ? "missing" : null;
  if (missingParent !== null) {
    const isTaken = lookUpReal(root, missingParent).real !== null;
    return isTaken && !gone.has(missingParent) ? "ancestorReplaced" : null;
  }
  return real === null || (real.type === "directory" && gone.has(path)) ? null : "exists";
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** What an ordinary user makes is the user's own; root makes it for the owner of the checkout. */
function ownerOf(root: BytePath): Owner | null {
  if (process.geteuid?.() !== 0) return null;
  const { uid, gid } = statBeneath(root, "" as RelativePath)!;
  return { uid, gid };
}

function changeAt(
  path: RelativePath,
  before: TreeEntry | null,
  files: BytePath | null,
  owner: Owner | null,
): TreeChange {
  const made = files === null ? null : statBeneath(files, path);
  return {
    path,
    before,
    after: made && withAttributes(made, before, owner),
    source: made === null ? null : (`${files}/${path}` as BytePath),
    take: "clone",
    contentDiffers: null,
  };
}

/** git keeps no attributes but one bit: the user's file keeps its own. */
function withAttributes(made: TreeEntry, before: TreeEntry | null, owner: Owner | null): TreeEntry {
  if (before?.type !== made.type) return { ...made, ...owner };
  const { uid, gid, xattrs } = before;
  if (made.type !== "file") return { ...made, uid, gid, xattrs };
  const isProgram = (made.mode & 0o100) !== 0;
  const wasProgram = (before.mode & 0o100) !== 0;
  if (isProgram === wasProgram) return { ...made, uid, gid, xattrs, mode: before.mode };
  const plain = before.mode & 0o666;
  return { ...made, uid, gid, xattrs, mode: isProgram ? plain | ((plain & 0o444) >> 2) : plain };
}

/** Adds the folders above a new entry that the checkout does not have. */
function addFolders(
  changes: Map<RelativePath, TreeChange>,
  root: BytePath,
  files: BytePath,
  path: RelativePath,
  owner: Owner | null,
): void {
  for (const folder of ancestorsOf(path).slice(1)) {
    const { real } = lookUpReal(root, folder);
    if (real?.type === "directory") continue;
    changes.set(folder, changeAt(folder, real, files, owner));
  }
}

/** Folders in which nothing would be left, the innermost first; git has no empty ones. */
function emptiedFolders(
  root: BytePath,
  removed: ReadonlySet<RelativePath>,
  raw: readonly RawChange[],
): RelativePath[] {
  const gone = new Set<RelativePath>(removed);
  const kept = new Set(raw.flatMap(({ path, after }) => (after === null ? [] : ancestorsOf(path))));
  const candidates = [...new Set([...removed].flatMap((path) => ancestorsOf(path).slice(1)))];
  candidates.sort((a, b) => b.split("/").length - a.split("/").length);
  const emptied: RelativePath[] = [];
  for (const folder of candidates) {
    if (kept.has(folder) || !isEmptied(root, folder, gone)) continue;
    gone.add(folder);
    emptied.push(folder);
  }
  return emptied;
}

function isEmptied(root: BytePath, folder: RelativePath, gone: ReadonlySet<RelativePath>): boolean {
  return withRoot(root, (rootFd) =>
    withFolder(rootFd, folder, (fd) =>
      readDirectory(fd).every(({ name }) => gone.has(`${folder}/${name}` as RelativePath)),
    ),
  );
}
