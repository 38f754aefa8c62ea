import { createHash } from "node:crypto";
import type { Clock } from "../../contract/host.ts";
import { type RelativePath, nameOf } from "../../model/byte-path.ts";
import type { Change, ChangeKind } from "../../model/change.ts";
import { refuseOverwrite } from "../beneath.ts";
import { lookUpReal } from "../conflicts.ts";
import { hashFile } from "../content.ts";
import { publishedOwners } from "../owners.ts";
import { publicPath } from "../public-path.ts";
import { type TreeEntry, sameAttributes } from "../tree-entry.ts";
import { entryState } from "../view/entry-state.ts";
import type { OpenPlace, Workspace } from "../workspace.ts";
import { keepPreImage } from "./ancestors.ts";

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
  if (base?.entry.type === "file" && base.isIntact) await keepPreImage(place, path);
  const baseHash = base?.entry.type === "file" && base.isReadable ? hashOf(place, path) : null;
  await workspace.write(place, path, content);
  const made = await workspace.stat(place, path);
  if (made === null) throw new Error(`${nameOf(path)} vanished while it was written`);
  const { after, notes } = publishedOwners({ before: base?.entry ?? null, after: made });
  return {
    ...publicPath(path),
    kind: kindOf(base?.entry ?? null, made, baseHash, hash),
    before: base && entryState(base.entry, baseHash),
    after: after && entryState(after, hash),
    ...(notes.length > 0 && { notes }),
    at,
  };
}

interface Base {
  /** The entry that the sandbox started from, as far as it is known. */
  readonly entry: TreeEntry;
  /** Whether the real entry is proven to be that one still. */
  readonly isIntact: boolean;
  /** Whether the real entry is what a diff shows as the base. */
  readonly isReadable: boolean;
}

async function baseOf(
  workspace: Workspace,
  place: OpenPlace,
  path: RelativePath,
): Promise<Base | null> {
  const { real, parents } = lookUpReal(place.root, path);
  const check = await workspace.baseCheck(place);
  const verdict = real && check.verify(path, real, real, parents, false);
  const isIntact = real !== null && verdict === null;
  if (workspace.recorded !== undefined) {
    const entry = await workspace.recorded(place, path);
    if (entry === null || real === null || !isIntact)
      return entry && { entry, isIntact: false, isReadable: false };
  }
  return real === null || verdict === "exists" ? null : { entry: real, isIntact, isReadable: true };
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
