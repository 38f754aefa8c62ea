import type { TreeEntry } from "./tree-entry.ts";

/** Setuid, setgid and sticky bits that the sandbox introduced; inherited setgid of folders is not new. */
export function newSpecialBits(before: TreeEntry | null, after: TreeEntry): number {
  if (after.type === "symlink") return 0;
  const had = before !== null && before.type === after.type ? before.mode : 0;
  return after.mode & 0o7000 & ~had;
}

const PERMISSIONS = 0o777;

/**
 * Whether a file of a workspace still is the one that was copied there without its special bits, or was written anew
 * under the same permissions, as editors do. Any other file that took its place is a new one, without those bits.
 */
export function keepsSpecialBits(
  now: { readonly ino: bigint; readonly mode: number },
  copied: { readonly ino: bigint; readonly mode: number },
): boolean {
  return now.ino === copied.ino || (now.mode & PERMISSIONS) === (copied.mode & PERMISSIONS);
}
