import type { RelativePath } from "../../model/byte-path.ts";
import { ROOT, ancestorsOf } from "../../model/byte-path.ts";
import { type FileHandle, close, fileHandleAt, isSameHandle } from "../../platform/native/index.ts";
import { withRealOwners } from "../../tree/owners.ts";
import {
  type Identity,
  type TreeEntry,
  sameAttributes,
  sameIdentity,
} from "../../tree/tree-entry.ts";
import type { BaseCheck } from "../../tree/workspace.ts";
import {
  isMarkOf,
  pathKey,
  readBaseMark,
  readBaseMarkAt,
  readOrigin,
  readOriginAt,
} from "./base-mark.ts";
import { isFolderCopy } from "./folder-copy.ts";
import type { LayerFolder, LayerStack, LeafNode } from "./layer-stack.ts";
import { type Origins, handleKey } from "./origins.ts";
import { type OverlayState, readIdentity } from "./state.ts";
import { findNode, readNode, withHolder } from "./view-node.ts";

/** What a base check works on. Layers are opened only for entries whose change time proves nothing. */
export interface BaseCheckParts {
  readonly state: OverlayState;
  readonly openStack: () => LayerStack;
  /** The layer with the whiteouts for our own folders, as a stack of its own; it remembers the folders on the way. */
  readonly openMask: () => LayerStack | null;
  readonly origins: () => Origins;
}

type Verdict = ReturnType<BaseCheck["verify"]>;

/** Proves with change times, recorded identities and file handles that the real tree is what the sandbox started from. */
export class OverlayBaseCheck implements BaseCheck {
  readonly #parts: BaseCheckParts;
  readonly #baseTimeNs: bigint;
  readonly #rebased: ReadonlyMap<RelativePath, Identity | null>;
  readonly #proven = new Map<RelativePath, boolean>();

  constructor(parts: BaseCheckParts) {
    this.#parts = parts;
    this.#baseTimeNs = BigInt(parts.state.base.timeNs);
    this.#rebased = new Map(
      parts.state.base.rebased.map(([path, identity]) => [
        path,
        identity && readIdentity(identity),
      ]),
    );
  }

  verify(
    path: RelativePath,
    real: TreeEntry | null,
    before: TreeEntry | null,
    parents: readonly TreeEntry[],
    isRemoval: boolean,
  ): Verdict {
    const folders = ancestorsOf(path);
    for (const [index, folder] of folders.entries()) {
      const entry = parents[index];
      if (entry === undefined || !this.#isSameFolder(folder, entry, parents[index - 1])) {
        return "ancestorReplaced";
      }
    }
    if (this.#rebased.has(path)) return judgeRebased(real, this.#rebased.get(path) ?? null);
    const parent = parents.at(-1);
    if (real === null) return before !== null ? "missing" : this.#added(path, parent);
    if (path === ROOT && !this.#isSameFolder(ROOT, real, undefined)) return "ancestorReplaced";
    if (before === null) return "exists";
    if (real.ctimeNs <= this.#baseTimeNs) return null;
    if (real.type === "directory" && !isRemoval) return this.#folder(path, real, parent);
    return isRemoval || this.#wasThere(path) ? "changed" : "exists";
  }

  /** Whether the real folder is the one that the sandbox started from, whatever names came and went in it. */
  #isSameFolder(path: RelativePath, entry: TreeEntry, parent: TreeEntry | undefined): boolean {
    if (path === ROOT) return this.#isSameRoot(entry);
    // Renaming a folder changes its own change time and that of the folder which holds it.
    if (entry.ctimeNs <= this.#baseTimeNs) return true;
    if (parent !== undefined && parent.ctimeNs <= this.#baseTimeNs) return true;
    const known = this.#proven.get(path);
    if (known !== undefined) return known;
    const rebased = this.#rebased.get(path);
    const isProven =
      (rebased !== undefined && rebased !== null && rebased.ino === entry.ino) ||
      this.#isRecorded(path, entry);
    this.#proven.set(path, isProven);
    return isProven;
  }

  #isSameRoot(entry: TreeEntry): boolean {
    const known = this.#proven.get(ROOT);
    if (known !== undefined) return known;
    using stack = this.#parts.openStack();
    const { ino, handle } = this.#parts.state.root;
    const present = fileHandleAt(stack.rootFd, "");
    const isSame =
      entry.ino === BigInt(ino) && (present === null ? "" : handleKey(present)) === handle;
    this.#proven.set(ROOT, isSame);
    return isSame;
  }

  /** Whether a layer remembers exactly this real folder. */
  #isRecorded(path: RelativePath, entry: TreeEntry): boolean {
    using stack = this.#parts.openStack();
    const fd = stack.openBase(path);
    if (fd === null) return false;
    let handle: FileHandle | null;
    try {
      handle = fileHandleAt(fd, "");
    } finally {
      close(fd);
    }
    const node = findNode(stack, path);
    if (node?.kind === "folder" && node.base === path) {
      if (node.parts.some((part) => remembers(stack, part, entry.ino, handle))) return true;
    }
    using mask = this.#parts.openMask();
    const masked = mask === null ? null : findNode(mask, path);
    if (mask === null || masked?.kind !== "folder") return false;
    return masked.parts.some((part) => remembers(mask, part, entry.ino, handle));
  }

  /** A folder that both sides have: names that others added or removed do not matter, its attributes do. */
  #folder(path: RelativePath, real: TreeEntry, parent: TreeEntry | undefined): Verdict {
    if (!this.#isSameFolder(path, real, parent)) return "ancestorReplaced";
    using stack = this.#parts.openStack();
    const node = findNode(stack, path);
    if (node?.kind !== "folder") return "changed";
    const own = withRealOwners(readNode(stack, node), real, stack.user);
    return sameAttributes(own, real) ? null : "changed";
  }

  /** Nothing is there in the real tree: fine for a new entry, not for one that was copied from there. */
  #added(path: RelativePath, parent: TreeEntry | undefined): Verdict {
    if (parent !== undefined && parent.ctimeNs <= this.#baseTimeNs) return null;
    using stack = this.#parts.openStack();
    const node = findNode(stack, path);
    if (node?.kind === "folder") return isFolderCopy(stack, node, path) ? "missing" : null;
    if (node === null || node.layer === null) return null;
    const { dialect } = node.layer;
    return withHolder(stack, node, (fd, name): Verdict => {
      const mark = readBaseMarkAt(fd, name, dialect);
      if (mark !== null) return mark.pathKey === pathKey(path) ? "missing" : null;
      const origin = readOriginAt(fd, name, dialect);
      return origin !== null && this.#parts.origins().isGone(handleKey(origin)) ? "missing" : null;
    });
  }

  /** Whether the base had an entry at this path: the sandbox's own one was copied from it, or the real one is old. */
  #wasThere(path: RelativePath): boolean {
    using stack = this.#parts.openStack();
    const stat = stack.statBase(path);
    if (stat?.btimeNs !== null && stat !== null && stat.btimeNs <= this.#baseTimeNs) return true;
    const node = findNode(stack, path);
    return node?.kind === "leaf" && node.layer !== null && isCopy(stack, node, path);
  }
}

function judgeRebased(real: TreeEntry | null, expected: Identity | null): Verdict {
  if (real === null) return expected === null ? null : "missing";
  if (expected === null) return "exists";
  return sameIdentity(real, expected) ? null : "changed";
}

function remembers(
  stack: LayerStack,
  part: LayerFolder,
  ino: bigint,
  handle: FileHandle | null,
): boolean {
  const fd = stack.openPart(part);
  try {
    const mark = readBaseMark(fd, part.layer.dialect);
    if (mark !== null && isMarkOf(mark, ino, handle)) return true;
    const origin = readOrigin(fd, part.layer.dialect);
    return origin !== null && handle !== null && isSameHandle(origin, handle);
  } finally {
    close(fd);
  }
}

function isCopy(stack: LayerStack, node: LeafNode, path: RelativePath): boolean {
  const { layer } = node;
  if (layer === null) return false;
  return withHolder(stack, node, (fd, name) => {
    const mark = readBaseMarkAt(fd, name, layer.dialect);
    return mark?.pathKey === pathKey(path) || readOriginAt(fd, name, layer.dialect) !== null;
  });
}
