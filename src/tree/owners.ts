import type { TreeChange } from "./tree-change.ts";
import type { TreeEntry } from "./tree-entry.ts";

/** An ordinary user: whose everything is that he makes, and which groups he may give to it. */
export interface OrdinaryUser {
  readonly uid: number;
  readonly gid: number;
  /** Groups that the user is in besides. */
  readonly groups: readonly number[];
}

/** Owner and group of an entry. */
export type Owners = Pick<TreeEntry, "uid" | "gid">;

/** The user of this process; null for root, who may give everything away. */
export function presentUser(): OrdinaryUser | null {
  const uid = process.geteuid?.() ?? 0;
  if (uid === 0) return null;
  return { uid, gid: process.getegid?.() ?? uid, groups: process.getgroups?.() ?? [] };
}

/** Whether the user is in the group, and so may give it to entries of his own. */
export function isInGroup({ gid, groups }: OrdinaryUser, group: number): boolean {
  return group === gid || groups.includes(group);
}

/**
 * The entry of a sandbox with the owner and group of the real one that it stands for, wherever the user who made it could
 * not have given them to it: nobody changed those.
 */
export function withRealOwners(
  entry: TreeEntry,
  real: Owners,
  user: OrdinaryUser | null,
): TreeEntry {
  if (user === null) return entry;
  const isForeign = real.uid !== user.uid;
  // Whoever may not give the owner is refused the group in the same call.
  const isGroupLost = isForeign || !isInGroup(user, real.gid);
  const isOwnGroup = entry.gid === user.gid || entry.gid === process.getegid?.();
  const uid = isForeign && entry.uid === user.uid ? real.uid : entry.uid;
  const gid = isGroupLost && isOwnGroup ? real.gid : entry.gid;
  return uid === entry.uid && gid === entry.gid ? entry : { ...entry, uid, gid };
}

/** The bit of a folder that gives its group to whatever is made in it. */
export const SET_GROUP = 0o2000;

/** A new entry as a folder with that bit would have made it. */
export function withFolderGroup(entry: TreeEntry, gid: number): TreeEntry {
  const mode = entry.type === "directory" ? entry.mode | SET_GROUP : entry.mode;
  return { ...entry, gid, mode };
}

/** A change as its publication will leave it, and what is to be said about that. */
export interface PublishedOwners {
  readonly after: TreeEntry | null;
  readonly notes: readonly string[];
}

/**
 * What the entry of a change will have once it is published by this process. A folder that is there already keeps its
 * owner and group; everything else is a new entry, which an ordinary user cannot give to others. `origin` is what a
 * renamed entry was before.
 */
export function publishedOwners(
  { before, after, linkTo }: Pick<TreeChange, "before" | "after" | "linkTo">,
  origin: Owners | null = null,
): PublishedOwners {
  const user = presentUser();
  const staysItself = after?.type === "directory" && before?.type === "directory";
  if (user === null || after === null || staysItself || linkTo !== undefined)
    return { after, notes: [] };
  const gid = isInGroup(user, after.gid) ? after.gid : user.gid;
  const wanted = origin ?? after;
  return { after: { ...after, uid: user.uid, gid }, notes: lossOf(wanted, user) };
}

function lossOf({ uid, gid }: Owners, user: OrdinaryUser): string[] {
  if (uid !== user.uid) return ["owner cannot be kept"];
  return isInGroup(user, gid) ? [] : ["group cannot be kept"];
}
