import { statFd } from "../../platform/native/index.ts";
import { SET_GROUP, withFolderGroup, withRealOwners } from "../../tree/owners.ts";
import type { TreeEntry } from "../../tree/tree-entry.ts";
import type { LayerStack, ViewNode } from "./layer-stack.ts";

/**
 * An entry of the view with those of the real one's owner, group and set-group-ID bit that nobody changed: its copy could
 * not be given them. A folder that took the place of a real one has its own.
 */
export function asReal(
  stack: LayerStack,
  node: ViewNode,
  entry: TreeEntry,
  real: TreeEntry | null,
): TreeEntry {
  const isAnother = real?.type !== entry.type || (node.kind === "folder" && node.base === null);
  if (real === null || isAnother) return entry;
  const owned = withRealOwners(entry, real, stack.user);
  // fuse-overlayfs takes the bit away when it copies a folder.
  const bit = stack.losesGroups && real.type === "directory" ? real.mode & SET_GROUP : 0;
  return bit === 0 ? owned : { ...owned, mode: owned.mode | bit };
}

/** The group that a real folder gives to what is made in it, where its copy could not; else null. */
export function groupGivenBy(stack: LayerStack, realFd: number): number | null {
  if (!stack.losesGroups) return null;
  const { mode, gid } = statFd(realFd);
  return (mode & SET_GROUP) === 0 ? null : gid;
}

/** A new entry with the group of the folder around it; one that was moved there keeps its own. */
export function asMade(
  { user }: LayerStack,
  node: ViewNode,
  entry: TreeEntry,
  marks: readonly string[],
  gid: number,
): TreeEntry {
  const wasMoved = node.kind === "leaf" && marks.length > 0;
  return wasMoved || entry.gid !== user?.gid ? entry : withFolderGroup(entry, gid);
}
