import type { RelativePath } from "../../model/byte-path.ts";
import { nameOf, parentOf } from "../../model/byte-path.ts";
import { compareText } from "../../model/compare-text.ts";
import { close, fileHandleAt } from "../../platform/native/index.ts";
import type { TreeChange } from "../../tree/tree-change.ts";
import type { TreeEntry } from "../../tree/tree-entry.ts";
import { readOriginAt } from "./base-mark.ts";
import type { LayerStack, LeafNode } from "./layer-stack.ts";
import { findOtherNames } from "./other-names.ts";
import { readNode, withHolder } from "./view-node.ts";

interface Member {
  readonly path: RelativePath;
  readonly node: LeafNode;
  readonly after: TreeEntry;
  /** The equal real entry when the member is no change. */
  readonly real: TreeEntry | null;
}

/** Follows files with several names, and files whose name went away, through one comparison. */
export class LinkNames {
  readonly #stack: LayerStack;
  readonly #groups = new Map<string, Member[]>();
  readonly #added = new Map<RelativePath, LeafNode>();
  readonly #lost: RelativePath[] = [];
  /** Real files that the view shows as a copy of its own, though it equals them. */
  readonly #copied = new Map<RelativePath, TreeEntry>();

  constructor(stack: LayerStack) {
    this.#stack = stack;
  }

  /** A file of the view that is a change, or (with `real`) a copy that equals its base. */
  see(path: RelativePath, after: TreeEntry, node: LeafNode, real: TreeEntry | null): void {
    if (node.layer !== null && real === null) this.#added.set(path, node);
    if (real !== null) this.#copied.set(path, real);
    if (after.nlink < 2) return;
    const key = fileKey(after);
    const members = this.#groups.get(key) ?? [];
    members.push({ path, node, after, real });
    this.#groups.set(key, members);
  }

  /** A file of the real tree whose name the sandbox removed; it may have got another one. */
  lose(path: RelativePath): void {
    this.#lost.push(path);
  }

  /** Turns further names of one file into links to the first, and tells which additions are renames. */
  apply(changes: readonly TreeChange[]): TreeChange[] {
    const byPath = new Map(changes.map((change) => [change.path, change]));
    this.#addUntouched(byPath);
    for (const members of this.#groups.values()) this.#link(members, byPath);
    this.#findRenames(byPath);
    return [...byPath.values()];
  }

  /** A file of a renamed folder may have a name where nothing changed, which no layer tells. */
  #addUntouched(byPath: ReadonlyMap<RelativePath, TreeChange>): void {
    const moved = [...this.#groups].filter(([, members]) =>
      members.some(({ node, real }) => node.layer === null && real === null),
    );
    if (moved.length === 0) return;
    const known = new Map<string, number>();
    const replaced = [...byPath.values()].flatMap(({ before }) => before ?? []);
    for (const entry of [...replaced, ...this.#copied.values()]) {
      known.set(fileKey(entry), (known.get(fileKey(entry)) ?? 0) + 1);
    }
    const wanted = moved.filter(
      ([key, [first]]) => first !== undefined && first.after.nlink > (known.get(key) ?? 0),
    );
    const mayCount = (path: RelativePath): boolean => !byPath.has(path) && !this.#copied.has(path);
    const names = findOtherNames(this.#stack, new Map(wanted).keys(), mayCount);
    for (const [key, path] of names) {
      const node: LeafNode = { kind: "leaf", layer: null, path };
      const entry = readNode(this.#stack, node);
      this.#groups.get(key)?.push({ path, node, after: entry, real: entry });
    }
  }

  #link(members: Member[], byPath: Map<RelativePath, TreeChange>): void {
    if (members.length < 2) return;
    members.sort((a, b) => compareText(a.path, b.path));
    const primary = members.find((member) => member.real !== null) ?? members[0];
    if (primary === undefined) return;
    for (const member of members) {
      if (member === primary) continue;
      const change = byPath.get(member.path);
      if (change !== undefined) {
        byPath.set(member.path, { ...change, take: "clone", linkTo: primary.path });
      } else if (member.real !== null && member.real.ino !== primary.real?.ino) {
        byPath.set(member.path, this.#relinked(member, primary.path));
      }
    }
    const first = byPath.get(primary.path);
    // The other names need the file where it is.
    if (first !== undefined) byPath.set(primary.path, { ...first, take: "clone" });
    this.#forgetSplit(members, byPath);
  }

  /** All names of the base file are still names of one file: nothing was split. */
  #forgetSplit(members: readonly Member[], byPath: Map<RelativePath, TreeChange>): void {
    for (const { path } of members) {
      const change = byPath.get(path);
      if (change?.notes === undefined || change.before?.nlink !== members.length) continue;
      const { notes, ...rest } = change;
      const others = notes.filter((note) => note !== "hard link split");
      byPath.set(path, others.length === 0 ? rest : { ...rest, notes: others });
    }
  }

  #relinked(member: Member, linkTo: RelativePath): TreeChange {
    return {
      path: member.path,
      before: member.real,
      after: member.after,
      source: this.#stack.sourceOf(member.node),
      take: "clone",
      contentDiffers: false,
      linkTo,
      notes: ["hard link made"],
    };
  }

  /** The kernel notes on a copied-up file which real file it was; a removed real file with that handle was renamed. */
  #findRenames(byPath: Map<RelativePath, TreeChange>): void {
    if (this.#lost.length === 0 || this.#added.size === 0) return;
    const lost = new Map<string, RelativePath>();
    for (const path of this.#lost) {
      const handle = this.#handleOf(path);
      if (handle !== null) lost.set(handle, path);
    }
    for (const [path, node] of this.#added) {
      const change = byPath.get(path);
      if (change?.before !== null) continue;
      const origin = this.#originOf(node);
      const from = origin === null ? undefined : lost.get(origin);
      if (from !== undefined) byPath.set(path, { ...change, movedFrom: from });
    }
  }

  #handleOf(path: RelativePath): string | null {
    const fd = this.#stack.openBase(parentOf(path));
    if (fd === null) return null;
    try {
      const handle = fileHandleAt(fd, nameOf(path));
      return handle === null ? null : `${handle.type}:${handle.bytes.toString("hex")}`;
    } finally {
      close(fd);
    }
  }

  #originOf(node: LeafNode): string | null {
    const { layer } = node;
    if (layer === null) return null;
    const origin = withHolder(this.#stack, node, (fd, name) =>
      readOriginAt(fd, name, layer.dialect),
    );
    return origin === null ? null : `${origin.type}:${origin.bytes.toString("hex")}`;
  }
}

function fileKey({ dev, ino }: TreeEntry): string {
  return `${dev}:${ino}`;
}
