import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import type { TreeChange } from "../tree-change.ts";
import { FIELD, type Manifest } from "./manifest.ts";

interface Member {
  readonly path: RelativePath;
  readonly record: number;
}

interface Arrival {
  readonly ino: number;
  readonly bornNs: bigint | null;
}

/** Follows inodes with several names, and inodes whose name went away, through one comparison. */
export class LinkGroups {
  readonly #manifest: Manifest;
  readonly #groups = new Map<number, Member[]>();
  readonly #lost = new Map<number, Member>();
  readonly #arrived = new Map<RelativePath, Arrival>();

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
    this.#lost.set(this.#manifest.wide(record, FIELD.ino), { path, record });
  }

  /** A workspace entry whose path the base does not have; `bornNs` is null where the file system keeps no births. */
  arrive(path: RelativePath, ino: number, bornNs: bigint | null): void {
    this.#arrived.set(path, { ino, bornNs });
  }

  /** Turns further names of unchanged files into links to them, and tells which additions are renames. */
  apply(changes: readonly TreeChange[], sourceOf: (path: RelativePath) => BytePath): TreeChange[] {
    const byPath = new Map(changes.map((change) => [change.path, change]));
    for (const members of this.#groups.values()) this.#group(members, byPath, sourceOf);
    const result: TreeChange[] = [];
    for (const change of byPath.values()) {
      const former = this.#formerPath(change.path);
      result.push(former === undefined ? change : { ...change, movedFrom: former });
    }
    return result;
  }

  /** Where an entry was before. A number alone proves nothing: those of removed files are given to new ones. */
  #formerPath(path: RelativePath): RelativePath | undefined {
    const arrival = this.#arrived.get(path);
    const lost = arrival === undefined ? undefined : this.#lost.get(arrival.ino);
    if (arrival === undefined || lost === undefined || arrival.bornNs === null) return undefined;
    return arrival.bornNs <= this.#manifest.timeNs(lost.record, FIELD.ctime)
      ? lost.path
      : undefined;
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
