import { setImmediate } from "node:timers/promises";
import {
  type BytePath,
  type RelativePath,
  ROOT,
  ancestorsOf,
  isWithin,
  joinPath,
  nameOf,
} from "../../model/byte-path.ts";
import type { SkippedEntry } from "../../model/change.ts";
import { compareText } from "../../model/compare-text.ts";
import { steadyMs } from "../../platform/clock.ts";
import { close, readDirectory } from "../../platform/native/index.ts";
import { haveEqualContent } from "../../tree/content.ts";
import { skippedEntry } from "../../tree/public-path.ts";
import { findEntry, readEntry } from "../../tree/read-entry.ts";
import { judgeEntry } from "../../tree/scan/judge-entry.ts";
import type { ChangeSet, TreeChange } from "../../tree/tree-change.ts";
import type { TreeEntry } from "../../tree/tree-entry.ts";
import { FolderReader } from "./folder-reader.ts";
import type { FolderNode, LayerStack, ViewNode } from "./layer-stack.ts";
import { LinkNames } from "./link-names.ts";
import { findStat } from "./marks.ts";
import { asMade, asReal, groupGivenBy } from "./real-owners.ts";
import { readMarkedNode, readNode, withHolder } from "./view-node.ts";

/** What of the view counts. */
export interface ChangeScope {
  /** The one name that counts, for a single-file resource. */
  readonly only: BytePath | null;
  readonly exclude: readonly RelativePath[];
  /** Whether the upper layer's files may be renamed away, because no mount shows them. */
  readonly mayMove: boolean;
  /** Entries of the real tree with a later change time were changed after the sandbox was made. */
  readonly baseTimeNs: bigint;
}

/** The changes, and which files of the real tree the sandbox copied, replaced, moved or removed. */
export interface CollectedChanges extends ChangeSet {
  readonly touched: readonly RelativePath[];
}

/**
 * What differs between the view and the real tree. Walks our own layers alone, and of the real tree only what they
 * replaced, removed or moved: the cost follows what changed. One thing needs more: where a renamed folder holds a file
 * with names elsewhere, the real tree is walked for them.
 */
export function collectChanges(stack: LayerStack, scope: ChangeScope): CollectedChanges {
  return new Collector(stack, scope).run();
}

/** The same, with turns for everybody else on the event loop: for callers that may have many changes. */
export async function collectInTurns(
  stack: LayerStack,
  scope: ChangeScope,
): Promise<CollectedChanges> {
  const collector = new Collector(stack, scope);
  let turn = steadyMs();
  for (const _folder of collector.folders()) {
    if (steadyMs() - turn < LONGEST_TURN_MS) continue;
    await setImmediate();
    turn = steadyMs();
  }
  return collector.result();
}

/** Whether a change counts; stops looking at the first that does. */
export function hasChange(
  stack: LayerStack,
  scope: ChangeScope,
  counts: (change: TreeChange) => boolean,
): boolean {
  const collector = new Collector(stack, scope);
  // What links may add is asked for only when nothing else counts.
  return collector.finds(counts) || collector.result().changes.some(counts);
}

/** How long others may have to wait. */
const LONGEST_TURN_MS = 8;

/** A folder of the view still to be looked into. */
interface Pending {
  readonly path: RelativePath;
  readonly node: FolderNode;
  /** Whether the real tree has a folder at the same path. */
  readonly hasReal: boolean;
  /** The group that a new folder has from the one around it; null when it has none. */
  readonly givenGroup: number | null;
}

/** The folder that holds an entry. */
interface Holder {
  readonly reader: FolderReader;
  readonly realFd: number | null;
  /** The group that it gives to new entries; null when it gives none. */
  readonly givesGroup: number | null;
}

/** Both sides of one name. */
interface Compared {
  readonly after: TreeEntry;
  readonly marks: readonly string[];
  readonly real: TreeEntry | null;
  readonly realFd: number | null;
  readonly name: BytePath;
}

class Collector {
  readonly #stack: LayerStack;
  readonly #scope: ChangeScope;
  readonly #changes: TreeChange[] = [];
  readonly #times: TreeChange[] = [];
  readonly #skipped: SkippedEntry[] = [];
  readonly #touched: RelativePath[] = [];
  readonly #links: LinkNames;

  constructor(stack: LayerStack, scope: ChangeScope) {
    this.#stack = stack;
    this.#scope = scope;
    this.#links = new LinkNames(stack);
  }

  /** All changes. */
  run(): CollectedChanges {
    for (const _folder of this.folders());
    return this.result();
  }

  /** Looks no further than the folder with the first change that counts; false when there is none. */
  finds(counts: (change: TreeChange) => boolean): boolean {
    for (const known of this.folders()) {
      if (this.#changes.slice(known).some(counts)) return true;
    }
    return false;
  }

  /** Looks into one folder after the other; gives how many changes were known before each. */
  *folders(): Generator<number, void> {
    const pending: Pending[] = [
      { path: ROOT, node: this.#stack.rootNode, hasReal: true, givenGroup: null },
    ];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const known = this.#changes.length;
      pending.push(...this.#folder(next));
      yield known;
    }
  }

  /** What was found so far. */
  result(): CollectedChanges {
    const changes = [...this.#links.apply(this.#changes), ...this.#folderTimes()];
    return { changes: sorted(changes), skipped: sorted(this.#skipped), touched: this.#touched };
  }

  #folder({ path, node, hasReal, givenGroup }: Pending): Pending[] {
    const isInPlace = hasReal && node.base === path;
    // A folder that only the real tree has is not looked into.
    if (isInPlace && node.parts.length === 0) return [];
    const folders: Pending[] = [];
    using reader = new FolderReader(this.#stack, node);
    const realFd = hasReal ? this.#stack.openBase(path) : null;
    try {
      const names = reader.ownNames();
      const givesGroup = realFd === null ? givenGroup : groupGivenBy(this.#stack, realFd);
      if (!isInPlace) {
        for (const name of reader.baseNames()) names.add(name);
        if (realFd !== null)
          for (const { name } of readDirectory(realFd)) names.add(name as BytePath);
      }
      for (const name of names) {
        const child = this.#entry(joinPath(path, name), name, { reader, realFd, givesGroup });
        if (child !== null) folders.push(child);
      }
    } finally {
      if (realFd !== null) close(realFd);
    }
    if (hasReal) this.#folderItself(path, node);
    return folders;
  }

  /** Compares one name; gives it back when it is a folder to be entered. */
  #entry(
    path: RelativePath,
    name: BytePath,
    { reader, realFd, givesGroup }: Holder,
  ): Pending | null {
    const node = reader.lookUp(name);
    if (this.#isOutside(path, node)) return null;
    if (node?.kind === "folder" && node.parts.length === 0 && node.base === path) return null;
    const stat = realFd === null ? null : findStat(realFd, name);
    if (stat !== null && this.#stack.isOtherMount(stat)) {
      this.#skipped.push(skippedEntry(path, "otherMount"));
      return null;
    }
    const real = stat === null || realFd === null ? null : findEntry(realFd, name, stat);
    if (node === null) {
      if (real !== null && realFd !== null) this.#removed(path, real, realFd);
      return null;
    }
    const { entry: found, marks } = readMarkedNode(this.#stack, node, reader);
    const isInherited = real === null && givesGroup !== null;
    const after = isInherited ? asMade(this.#stack, node, found, marks, givesGroup) : found;
    if (after.special !== undefined) {
      return this.#specialFile(path, node, after, real, realFd);
    }
    if (real?.type === "directory" && after.type !== "directory" && realFd !== null) {
      if (this.#removedBelow(path, realFd)) return null;
    }
    if (real?.type === "directory" && after.type === "directory" && node.kind === "folder") {
      return { path, node, hasReal: true, givenGroup: null };
    }
    this.#compared(path, node, { after, marks, real, realFd, name });
    const givenGroup = after === found ? null : givesGroup;
    return node.kind === "folder" ? { path, node, hasReal: false, givenGroup } : null;
  }

  #isOutside(path: RelativePath, node: ViewNode | null): boolean {
    const { only, exclude } = this.#scope;
    if (exclude.some((hidden) => isWithin(path, hidden))) return true;
    if (only === null || path === only) return false;
    if (node !== null) this.#skipped.push(skippedEntry(path, "excluded"));
    return true;
  }

  #compared(
    path: RelativePath,
    node: ViewNode,
    { after, marks, real, realFd, name }: Compared,
  ): void {
    const change = judgeEntry({
      path,
      before: real,
      isBaseIntact: true,
      after: asReal(this.#stack, node, after, real),
      source: this.#stack.sourceOf(node),
      compareContent: () =>
        realFd !== null &&
        withHolder(this.#stack, node, (fd, own) => haveEqualContent(fd, own, realFd, name)),
      // A copy that equals its base in everything is no change, whatever became of the base's other names.
      inodeKept: true,
    });
    if (node.kind === "leaf" && after.type === "file") {
      this.#links.see(path, after, node, change === null ? real : null);
    }
    if (real?.type === "file") this.#touched.push(path);
    if (change === null) return;
    const isSplit = real?.type === "file" && real.nlink > 1 && after.type === "file";
    this.#changes.push({
      ...change,
      ...(this.#mayTake(node, after) ? { take: "move", marks } : { take: "clone" }),
      ...movedFrom(node, real),
      ...(isSplit && { notes: ["hard link split"] }),
    });
  }

  /** A file with a second name in the sandbox stays: writing to that name must never reach the real tree. */
  #mayTake(node: ViewNode, after: TreeEntry): boolean {
    const isUpper = node.kind === "leaf" && node.layer?.index === 0;
    return this.#scope.mayMove && isUpper && after.nlink === 1;
  }

  /** The attributes of a folder that both sides have; changed times alone wait until everything else is known. */
  #folderItself(path: RelativePath, node: FolderNode): void {
    if (path === ROOT && this.#scope.only !== null) return;
    const real = this.#readReal(path);
    if (real === null) return;
    const after = asReal(this.#stack, node, readNode(this.#stack, node), real);
    const change = judgeEntry({
      path,
      before: real,
      isBaseIntact: true,
      after,
      source: this.#stack.sourceOf(node),
      compareContent: () => true,
      inodeKept: true,
    });
    if (change === null) return;
    if (change.timesOnly !== true) {
      this.#changes.push(change);
      return;
    }
    // Somebody changed names in the real folder meanwhile: its time is theirs, not the sandbox's.
    const isTheirs = real.mtimeNs > this.#scope.baseTimeNs && after.mtimeNs < real.mtimeNs;
    if (!isTheirs) this.#times.push(change);
  }

  /** Folders of which only the times differ: implied where something below them changed. */
  #folderTimes(): TreeChange[] {
    const above = new Set(this.#changes.flatMap(({ path }) => ancestorsOf(path)));
    return this.#times.map((change) =>
      above.has(change.path) ? { ...change, implied: true } : change,
    );
  }

  #readReal(path: RelativePath): TreeEntry | null {
    const fd = this.#stack.openBase(path);
    if (fd === null) return null;
    try {
      return readEntry(fd, ".");
    } finally {
      close(fd);
    }
  }

  /** A special file cannot be published; what it took the place of was removed. */
  #specialFile(
    path: RelativePath,
    node: ViewNode,
    after: TreeEntry,
    real: TreeEntry | null,
    realFd: number | null,
  ): null {
    const isTheRealOne = node.kind === "leaf" && node.layer === null && node.path === path;
    if (isTheRealOne || after.special === undefined) return null;
    this.#skipped.push(skippedEntry(path, after.special));
    if (real !== null && real.special === undefined && realFd !== null) {
      this.#removed(path, real, realFd);
    }
    return null;
  }

  /** Lists a removal with everything below; true when something must stay and the entry therefore cannot go. */
  #removed(path: RelativePath, real: TreeEntry, parentFd: number): boolean {
    if (this.#scope.exclude.includes(path)) return this.#stays(path, "excluded");
    if (real.type === "directory" && this.#removedBelow(path, parentFd)) return true;
    this.#changes.push({
      path,
      before: real,
      after: null,
      source: null,
      take: "clone",
      contentDiffers: null,
    });
    if (real.type === "file") {
      this.#touched.push(path);
      this.#links.lose(path);
    }
    return false;
  }

  #removedBelow(path: RelativePath, parentFd: number): boolean {
    const stat = findStat(parentFd, nameOf(path));
    if (stat !== null && this.#stack.isOtherMount(stat)) return this.#stays(path, "otherMount");
    const fd = this.#stack.openBase(path);
    if (fd === null) return false;
    let mustStay = false;
    try {
      for (const { name } of readDirectory(fd)) {
        const entry = findEntry(fd, name);
        if (entry !== null && this.#removed(joinPath(path, name), entry, fd)) mustStay = true;
      }
    } finally {
      close(fd);
    }
    return mustStay;
  }

  #stays(path: RelativePath, reason: SkippedEntry["reason"]): true {
    this.#skipped.push(skippedEntry(path, reason));
    return true;
  }
}

/** Where an entry of a renamed folder was before: the real tree still has it there. */
function movedFrom(node: ViewNode, real: TreeEntry | null): { readonly movedFrom?: RelativePath } {
  if (real !== null) return {};
  if (node.kind === "leaf") return node.layer === null ? { movedFrom: node.path } : {};
  return node.base === null ? {} : { movedFrom: node.base };
}

function sorted<T extends { readonly path: string }>(entries: T[]): T[] {
  return entries.sort((a, b) => compareText(a.path, b.path));
}
