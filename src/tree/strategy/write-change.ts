import { createHash } from "node:crypto";
import type { Clock } from "../../contract/host.ts";
import { type RelativePath, nameOf } from "../../model/byte-path.ts";
import type { Change, ChangeKind } from "../../model/change.ts";
import { refuseOverwrite, statBeneath } from "../beneath.ts";
import { hashFile } from "../content.ts";
import { publicPath } from "../public-path.ts";
import { type TreeEntry, sameAttributes } from "../tree-entry.ts";
import { entryState } from "../view/entry-state.ts";
import type { OpenPlace, Workspace } from "../workspace.ts";
import { keepPreImage } from "./pre-image.ts";

/**
 * Writes a file into the sandbox and tells the change against the base, the same that the next diff lists. Identical
 * content is no write at all.
 */
export async function describeWrite(
  workspace: Workspace,
  place: OpenPlace,
  path: RelativePath,
  content: Uint8Array,
  clock: Clock,
): Promise<Change> {
  const present = await workspace.stat(place, path);
  refuseOverwrite(path, present);
  const at = clock.now().toISOString();
  const hash = createHash("sha256").update(content).digest("hex");
  if (present?.size === content.length && (await workspace.read(place, path)).equals(content)) {
    const state = entryState(present, hash);
    return { ...publicPath(path), kind: "unchanged", before: state, after: state, at };
  }
  const base = await baseOf(workspace, place, path);
  if (base?.type === "file") await keepPreImage(place, path);
  const baseHash = base?.type === "file" ? hashOf(place, path) : null;
  await workspace.write(place, path, content);
  const after = await workspace.stat(place, path);
  if (after === null) throw new Error(`${nameOf(path)} vanished while it was written`);
  return {
    ...publicPath(path),
    kind: kindOf(base, after, baseHash, hash),
    before: base && entryState(base, baseHash),
    after: entryState(after, hash),
    at,
  };
}

/** The real entry, while it still is what the sandbox started from. */
async function baseOf(
  workspace: Workspace,
  place: OpenPlace,
  path: RelativePath,
): Promise<TreeEntry | null> {
  const real = statBeneath(place.root, path);
  if (real === null) return null;
  const check = await workspace.baseCheck(place);
  const verdict = check.verify(path, real, real, [], false);
  return verdict === "exists" ? null : real;
}

function hashOf(place: OpenPlace, path: RelativePath): string {
  return hashFile(`${place.root}/${path}` as Parameters<typeof hashFile>[0]);
}

function kindOf(
  base: TreeEntry | null,
  after: TreeEntry,
  baseHash: string | null,
  hash: string,
): ChangeKind {
  if (base === null) return "added";
  if (base.type !== after.type) return "typeChanged";
  if (baseHash !== hash) return "modified";
  return sameAttributes(base, after) || base.mode === after.mode
    ? "attributesChanged"
    : "modeChanged";
}
