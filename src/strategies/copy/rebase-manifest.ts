import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import { FIELD } from "../../tree/scan/manifest.ts";
import { type Identity, sameButChangeTime } from "../../tree/tree-entry.ts";
import { readManifest, writeManifest } from "./generation.ts";

/**
 * Takes the new change times of real entries that a commit moved away and an undo put back. An entry that is not the
 * recorded one in everything else is somebody else's, and stays a conflict.
 */
export async function rebaseManifest(
  folder: BytePath,
  base: ReadonlyMap<RelativePath, Identity | null>,
): Promise<void> {
  const manifest = readManifest(folder);
  for (const [path, identity] of base) {
    const record = manifest.find(path);
    if (record < 0 || identity === null) continue;
    if (!sameButChangeTime(manifest.baseIdentity(record), identity)) continue;
    const { ctimeNs } = identity;
    const [seconds, rest] = [ctimeNs / 1_000_000_000n, ctimeNs % 1_000_000_000n];
    manifest.setTime(record, FIELD.baseCtime, Number(seconds), Number(rest));
  }
  await writeManifest(folder, manifest);
}
