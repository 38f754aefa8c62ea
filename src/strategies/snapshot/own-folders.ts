import { readdirSync } from "node:fs";
import { type BytePath, displayPath } from "../../model/byte-path.ts";
import { removeBelow } from "../../tree/remove-folders.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";

/** How many names every later comparison may list in vain. */
const FEW = 100;

/** Takes what is in our own folders out of a snapshot that was just taken. Idempotent. */
export function emptyOwn(tree: BytePath, { exclude }: SandboxPlace): void {
  for (const own of exclude) removeBelow(`${tree}/${own}` as BytePath);
}

/** Whether our own folders have only a few entries in a snapshot, other sandboxes and undo data included. */
export function holdsFew(tree: BytePath, { exclude }: SandboxPlace): boolean {
  const folders = exclude.map((own) => displayPath(`${tree}/${own}` as BytePath));
  let count = 0;
  try {
    // Grows while it is gone through.
    for (const folder of folders) {
      const entries = readdirSync(folder, { withFileTypes: true });
      count += entries.length;
      if (count > FEW) return false;
      for (const entry of entries) if (entry.isDirectory()) folders.push(`${folder}/${entry.name}`);
    }
    return true;
  } catch {
    // In a subvolume of its own, of which a snapshot has nothing, or closed even to its owner.
    return false;
  }
}
