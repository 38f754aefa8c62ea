import type { RelativePath } from "../../model/byte-path.ts";
import { nameOf, parentOf } from "../../model/byte-path.ts";
import { compareText } from "../../model/compare-text.ts";
import { close, fileHandleAt } from "../../platform/native/index.ts";
import type { TreeChange } from "../../tree/tree-change.ts";
import type { TreeEntry } from "../../tree/tree-entry.ts";
import { readOriginAt } from "./base-mark.ts";
import type { LayerStack, LeafNode } from "./layer-stack.ts";
import { withHolder } from "./view-node.ts";

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

  constructor(stack: LayerStack) {
    this.#stack = stack;
  }

  /** A file of the view that is a change, or (with `real`) a copy that equals its base. */
  see(path: RelativePath, after: TreeEntry, node: LeafNode, real: TreeEntry | null): void {
    if (node.layer !== null && real === null) this.#added.set(path, node);
    if (after.nlink < 2) return;
    const key = `${after.dev}:${after.ino}`;
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
    for (const members of this.#groups.values()) this.#link(members, byPath);
    this.#findRenames(byPath);
    return [...byPath.values()];
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
