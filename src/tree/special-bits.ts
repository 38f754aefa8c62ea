import type { TreeEntry } from "./tree-entry.ts";

/** Setuid, setgid and sticky bits that the sandbox introduced; inherited setgid of folders is not new. */
export function newSpecialBits(before: TreeEntry | null, after: TreeEntry): number {
  if (after.type === "symlink") return 0;
  const had = before !== null && before.type === after.type ? before.mode : 0;
  return after.mode & 0o7000 & ~had;
}
