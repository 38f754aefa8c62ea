import { addToList } from "../../model/add-to-list.ts";
import type { RelativePath } from "../../model/byte-path.ts";
import type { ReadChange } from "./read-change.ts";

/** Both ends of a rename, found under either path. */
export interface RenameEnd {
  readonly from?: RelativePath;
  readonly to?: RelativePath;
}

/**
 * Pairs removed and added paths: by what the strategy knows for sure, then files by equal content. Content of removed
 * files is read only where an added file has the same size.
 */
export function findRenames(
  changes: readonly ReadChange[],
  hashBase: (change: ReadChange) => string | null,
): Map<RelativePath, RenameEnd> {
  const ends = new Map<RelativePath, RenameEnd>();
  const removed = new Map<RelativePath, ReadChange>();
  for (const change of changes) if (change.after === null) removed.set(change.path, change);
  const pair = (from: RelativePath, to: RelativePath): void => {
    ends.set(from, { to });
    ends.set(to, { from });
    removed.delete(from);
  };
  const added = changes.filter((change) => change.before === null && change.after !== null);
  for (const change of added) {
    if (change.movedFrom !== undefined && removed.has(change.movedFrom)) {
      pair(change.movedFrom, change.path);
    }
  }
  const bySize = new Map<number, ReadChange[]>();
  for (const change of removed.values()) {
    if (change.before?.type !== "file" || change.before.size === 0) continue;
    addToList(bySize, change.before.size, change);
  }
  for (const change of added) {
    if (ends.has(change.path) || change.after?.type !== "file") continue;
    const match = bySize
      .get(change.after.size)
      ?.find((other) => removed.has(other.path) && hashBase(other) === change.afterHash);
    if (match !== undefined) pair(match.path, change.path);
  }
  return ends;
}
