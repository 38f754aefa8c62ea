import { createHash } from "node:crypto";
import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import type { Change, EntryState } from "../../model/change.ts";
import { refuseOverwrite, statBeneath, writeBeneath } from "../../tree/beneath.ts";
import { hashFile } from "../../tree/content.ts";
import { publicPath } from "../../tree/public-path.ts";
import { entryState } from "../../tree/view/entry-state.ts";
import type { OpenPlace } from "../../tree/workspace.ts";
import { completeChanges, keepBase } from "./known-base.ts";

/**
 * Replaces or creates a file of the real tree at once and tells the change since the sandbox was made, as the next diff
 * does. Identical content is no write.
 */
export async function writeInPlace(
  place: OpenPlace,
  path: RelativePath,
  content: Uint8Array,
): Promise<Change> {
  const present = statBeneath(place.root, path);
  refuseOverwrite(path, present);
  const hash = createHash("sha256").update(content).digest("hex");
  if (present !== null && hashFile(`${place.root}/${path}` as BytePath) === hash) {
    const same = entryState(present, hash);
    return { ...publicPath(path), kind: "unchanged", before: same, after: same };
  }
  const before = await keepBase(place, path, present);
  writeBeneath(place.root, path, content, place.directory);
  const after = statBeneath(place.root, path);
  const change = {
    ...publicPath(path),
    kind: kindOf(before),
    before,
    after: after && entryState(after, hash),
  };
  const [completed = change] = await completeChanges(place, [change]);
  return completed;
}

function kindOf(before: EntryState | null): "added" | "typeChanged" | "modified" {
  if (before === null) return "added";
  return before.type === "file" ? "modified" : "typeChanged";
}
