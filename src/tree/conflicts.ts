import { setImmediate } from "node:timers/promises";
import type { BytePath, RelativePath } from "../model/byte-path.ts";
import { ancestorsOf, nameOf, parentOf } from "../model/byte-path.ts";
import type { ConflictReason } from "../model/conflict.ts";
import { type NativeStat, close, statIfThere } from "../platform/native/index.ts";
import { entryType, findEntry } from "./read-entry.ts";
import { folderEntry } from "./folder-entry.ts";
import { openFolder, withRoot } from "./scan/open-directory.ts";
import type { TreeChange } from "./tree-change.ts";
import type { TreeEntry } from "./tree-entry.ts";
import type { BaseCheck, SandboxPlace } from "./workspace.ts";

/** A change that cannot simply be published, with the real entry as it is now. */
export interface TreeConflict {
  readonly change: TreeChange;
  readonly reason: ConflictReason;
  readonly real: TreeEntry | null;
}

/** The changes against the real tree as it is now. */
export interface CheckedChanges {
  /** Every change that may go ahead, its `before` replaced by the real entry that was verified. */
  readonly verified: readonly TreeChange[];
  readonly conflicts: readonly TreeConflict[];
}

const CHANGES_PER_TURN = 400;

/**
 * Compares every touched path and every folder above it with what the sandbox started from. Reads no content and
 * touches nothing; lets the event loop breathe.
 */
export async function checkConflicts(
  place: SandboxPlace,
  changes: readonly TreeChange[],
  base: BaseCheck,
): Promise<CheckedChanges> {
  const verified: TreeChange[] = [];
  const conflicts: TreeConflict[] = [];
  const newFolders = new Set(changes.filter(becomesFolder).map(({ path }) => path));
  const refused = new Map<RelativePath, ConflictReason>();
  for (let start = 0; start < changes.length; start += CHANGES_PER_TURN) {
    if (start > 0) await setImmediate();
    withRoot(place.root, (rootFd) => {
      const tree = new RealTree(rootFd);
      for (const change of changes.slice(start, start + CHANGES_PER_TURN)) {
        const found = tree.look(change.path, change.before);
        const reason = judge(change, found, base, newFolders, refused);
        if (reason === null) verified.push({ ...change, before: found.real });
        else {
          conflicts.push({ change, reason, real: found.real });
          if (newFolders.has(change.path)) refused.set(change.path, reason);
        }
      }
      tree.close();
    });
  }
  return { verified, conflicts };
}

/** Looks up one entry of the real tree, with the folders above it. */
export function lookUpReal(root: BytePath, path: RelativePath): Found {
  return withRoot(root, (rootFd) => {
    const tree = new RealTree(rootFd);
    try {
      return tree.look(path);
    } finally {
      tree.close();
    }
  });
}

/** An entry of the real tree as it is now. */
export interface Found {
  readonly real: TreeEntry | null;
  /** Present entries of the folders above, the root first; shorter when one is missing. */
  readonly parents: readonly TreeEntry[];
  readonly missingParent: RelativePath | null;
}

function becomesFolder({ before, after }: TreeChange): boolean {
  return after?.type === "directory" && before?.type !== "directory";
}

function judge(
  change: TreeChange,
  { real, parents, missingParent }: Found,
  base: BaseCheck,
  newFolders: ReadonlySet<RelativePath>,
  refused: ReadonlyMap<RelativePath, ConflictReason>,
): ConflictReason | null {
  if (missingParent !== null) {
    // A folder that the sandbox itself makes is not there yet, and nothing can be below it.
    if (newFolders.has(missingParent)) return belowRefused(refused.get(missingParent));
    return change.before === null ? "ancestorReplaced" : "missing";
  }
  if (change.implied === true) return null;
  return base.verify(change.path, real, change.before, parents, change.after === null);
}

/** What it means for an entry that the folder above it cannot be made. */
function belowRefused(reason: ConflictReason | undefined): ConflictReason | null {
  if (reason === undefined) return null;
  return reason === "missing" ? "missing" : "ancestorReplaced";
}

function isUntouched(stat: NativeStat, known: TreeEntry): boolean {
  return (
    stat.ino === known.ino &&
    stat.dev === known.dev &&
    stat.ctimeNs === known.ctimeNs &&
    stat.mtimeNs === known.mtimeNs &&
    Number(stat.size) === known.size &&
    stat.mode === known.mode &&
    stat.nlink === known.nlink &&
    entryType(stat.type) === known.type
  );
}

/** Looks entries up below one open root; remembers folders. */
class RealTree {
  readonly #rootFd: number;
  readonly #folders = new Map<RelativePath, TreeEntry | null>();
  #openPath: RelativePath | null = null;
  #fd = -1;

  constructor(rootFd: number) {
    this.#rootFd = rootFd;
  }

  /** `known` is what was read of the entry before; it saves reading attributes again that nobody can have changed. */
  look(path: RelativePath, known: TreeEntry | null = null): Found {
    const parents: TreeEntry[] = [];
    for (const folder of ancestorsOf(path)) {
      const entry = this.#folder(folder);
      if (entry?.type !== "directory") return { real: null, parents, missingParent: folder };
      parents.push(entry);
    }
    return { real: this.#entry(path, known), parents, missingParent: null };
  }

  close(): void {
    if (this.#fd >= 0) close(this.#fd);
    this.#fd = -1;
    this.#openPath = null;
  }

  #folder(path: RelativePath): TreeEntry | null {
    let entry = this.#folders.get(path);
    if (entry === undefined) {
      entry = this.#entry(path);
      this.#folders.set(path, entry);
    }
    return entry;
  }

  #entry(path: RelativePath, known: TreeEntry | null = null): TreeEntry | null {
    if (path === "") return folderEntry(this.#rootFd);
    const fd = this.#open(parentOf(path));
    const stat = statIfThere(fd, nameOf(path));
    if (stat === null) return null;
    return known !== null && isUntouched(stat, known) ? known : findEntry(fd, nameOf(path), stat);
  }

  #open(path: RelativePath): number {
    if (path === this.#openPath) return this.#fd;
    this.close();
    this.#fd = openFolder(this.#rootFd, path);
    this.#openPath = path;
    return this.#fd;
  }
}
