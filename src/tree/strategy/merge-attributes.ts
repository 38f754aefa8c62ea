import { type TreeEntry, sameXattrs } from "../tree-entry.ts";

const PLAIN_BITS = 0o777;

/** The attributes that a merged file gets. */
export type MergedAttributes = Pick<TreeEntry, "mode" | "uid" | "gid" | "xattrs">;

/**
 * Merges mode, owner and extended attributes: what only one side changed is taken from that side. Null when both
 * changed the same one differently. The ancestor is a kept copy, which never has special bits.
 */
export function mergeAttributes(
  ours: TreeEntry,
  ancestor: TreeEntry,
  theirs: TreeEntry,
): MergedAttributes | null {
  const plain = (entry: TreeEntry): number => entry.mode & PLAIN_BITS;
  const mode = pick(plain(ours), plain(ancestor), plain(theirs), (a, b) => a === b);
  const uid = pick(ours.uid, ancestor.uid, theirs.uid, (a, b) => a === b);
  const gid = pick(ours.gid, ancestor.gid, theirs.gid, (a, b) => a === b);
  const xattrs = pick(ours.xattrs, ancestor.xattrs, theirs.xattrs, sameXattrs);
  if (mode === undefined || uid === undefined || gid === undefined || xattrs === undefined)
    return null;
  return { mode: mode | (ours.mode & ~PLAIN_BITS), uid, gid, xattrs };
}

function pick<T>(ours: T, ancestor: T, theirs: T, isSame: (a: T, b: T) => boolean): T | undefined {
  if (isSame(ours, theirs) || isSame(theirs, ancestor)) return ours;
  return isSame(ours, ancestor) ? theirs : undefined;
}
