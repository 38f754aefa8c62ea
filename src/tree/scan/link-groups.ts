import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import type { TreeChange } from "../tree-change.ts";
import { FIELD, type Manifest } from "./manifest.ts";

interface Member {
  readonly path: RelativePath;
  readonly record: number;
}

/** Follows inodes with several names, and inodes whose name went away, through one comparison. */
export class LinkGroups {
  readonly #manifest: Manifest;
  readonly #groups = new Map<number, Member[]>();
  readonly #lost = new Map<number, RelativePath>();

  constructor(manifest: Manifest) {
    this.#manifest = manifest;
  }

  /** A workspace file that has several names. */
  see(path: RelativePath, ino: number, record: number): void {
    const members = this.#groups.get(ino);
    if (members === undefined) this.#groups.set(ino, [{ path, record }]);
    else members.push({ path, record });
  }

  /** A recorded entry that is no longer at its place; it may turn up under another name. */
  lose(record: number, path: RelativePath): void {
    this.#lost.set(this.#manifest.wide(record, FIELD.ino), path);
  }

  /** Where an inode was before; known only for names that were missed so far. */
  formerPath(ino: number): RelativePath | undefined {
    return this.#lost.get(ino);
  }

  /** Turns further names of unchanged files into links to them, and tells late which additions are renames. */
  apply(changes: readonly TreeChange[], sourceOf: (path: RelativePath) => BytePath): TreeChange[] {
    const byPath = new Map(changes.map((change) => [change.path, change]));
    for (const members of this.#groups.values()) this.#group(members, byPath, sourceOf);
    const result: TreeChange[] = [];
    for (const change of byPath.values()) {
      const former =
        change.before === null && change.after !== null
          ? this.#lost.get(Number(change.after.ino))
          : undefined;
      result.push(former === undefined ? change : { ...change, movedFrom: former });
    }
    return result;
  }

  #group(
    members: readonly Member[],
    byPath: Map<RelativePath, TreeChange>,
    sourceOf: (path: RelativePath) => BytePath,
  ): void {
    if (members.length < 2) return;
    const primary = members.find((member) => !byPath.has(member.path));
    if (primary === undefined) return;
    for (const member of members) {
      if (member === primary) continue;
      const change = byPath.get(member.path);
      if (change !== undefined) {
        byPath.set(member.path, {
          ...change,
          linkTo: primary.path,
          contentDiffers: change.contentDiffers,
        });
      } else if (!this.#wereLinked(primary, member)) {
        byPath.set(member.path, this.#relinked(member, primary, sourceOf(member.path)));
      }
    }
  }

  #wereLinked(a: Member, b: Member): boolean {
    if (a.record < 0 || b.record < 0) return false;
    return (
      this.#manifest.wide(a.record, FIELD.baseIno) === this.#manifest.wide(b.record, FIELD.baseIno)
    );
  }

  #relinked(member: Member, primary: Member, source: BytePath): TreeChange {
    const entry = this.#manifest.baseEntry(member.record);
    return {
      path: member.path,
      before: entry,
      after: entry,
      source,
      take: "clone",
      contentDiffers: false,
      linkTo: primary.path,
      notes: ["hard link made"],
    };
  }
}
