import { createHash } from "node:crypto";
import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import type { Change, EntryState } from "../../model/change.ts";
import { refuseOverwrite, statBeneath, writeBeneath } from "../../tree/beneath.ts";
import { hashFile } from "../../tree/content.ts";
import { publicPath } from "../../tree/public-path.ts";
import { entryState } from "../../tree/view/entry-state.ts";
import type { OpenPlace } from "../../tree/workspace.ts";

/** Replaces or creates a file of the real tree at once; identical content is no write. */
export function writeInPlace(place: OpenPlace, path: RelativePath, content: Uint8Array): Change {
  const present = statBeneath(place.root, path);
  refuseOverwrite(path, present);
  const hash = createHash("sha256").update(content).digest("hex");
  const before: EntryState | null =
    present && entryState(present, hashFile(`${place.root}/${path}` as BytePath));
  if (before?.hash === hash) {
    return { ...publicPath(path), kind: "unchanged", before, after: before };
  }
  writeBeneath(place.root, path, content, place.directory);
  const after = statBeneath(place.root, path);
  return {
    ...publicPath(path),
    kind: before === null ? "added" : "modified",
    before,
    after: after && entryState(after, hash),
  };
}
