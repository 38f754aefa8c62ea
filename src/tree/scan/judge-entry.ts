import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import type { TreeChange } from "../tree-change.ts";
import { type TreeEntry, sameAttributes } from "../tree-entry.ts";

/** One entry whose recorded identity changed. */
export interface Suspect {
  readonly path: RelativePath;
  readonly before: TreeEntry | null;
  /** Whether the real entry still is the one that was copied, so that it can be compared with. */
  readonly isBaseIntact: boolean;
  readonly after: TreeEntry;
  readonly source: BytePath;
  /** Reads both sides; only called when nothing else tells. */
  readonly compareContent: () => boolean;
  /** Whether the entry still is the inode that was copied. */
  readonly inodeKept: boolean;
}

/** A change, and whether only its modification time differs. */
export type JudgedChange = TreeChange & { readonly timesOnly?: boolean };

/** Tells whether a suspect changed, and reads content only when attributes, size and time all agree. */
export function judgeEntry(suspect: Suspect): JudgedChange | null {
  const { path, before, after, source } = suspect;
  const found = (contentDiffers: boolean | null, timesOnly = false): JudgedChange => ({
    path,
    before,
    after,
    source,
    take: "clone",
    contentDiffers,
    ...(timesOnly && { timesOnly }),
  });
  if (before === null || before.type !== after.type) return found(null);
  const sameTimes = before.mtimeNs === after.mtimeNs;
  const same = sameAttributes(before, after);
  if (after.type === "directory") return same && sameTimes ? null : found(null, same);
  if (after.type === "symlink") {
    return same && sameTimes && before.target === after.target ? null : found(null);
  }
  if (before.size !== after.size) return found(true);
  if (!suspect.isBaseIntact || !same || !sameTimes) return found(null);
  if (!suspect.compareContent()) return found(true);
  // Equal in everything, but a name of a hard-linked file became a file of its own.
  if (before.nlink > 1 && !suspect.inodeKept)
    return { ...found(false), notes: ["hard link split"] };
  return null;
}
