import { readFile } from "node:fs/promises";
import {
  type RecordFormat,
  hasFields,
  readRecord,
  writeRecord,
} from "../../journal/record-file.ts";
import { type BytePath, type RelativePath, displayPath } from "../../model/byte-path.ts";
import type { Change, ChangeKind, EntryState } from "../../model/change.ts";
import { changedPathBytes } from "../../contract/diff-view.ts";
import { hashFile } from "../../tree/content.ts";
import { Manifest } from "../../tree/scan/manifest.ts";
import { type TreeEntry, sameIdentity } from "../../tree/tree-entry.ts";
import { entryState } from "../../tree/view/entry-state.ts";
import type { OpenPlace } from "../../tree/workspace.ts";

/** Digests of files as they were before this sandbox wrote over them, by path; the content itself is gone. */
interface Digests {
  readonly byPath: Readonly<Record<string, string>>;
}

const FORMAT: RecordFormat<Digests> = {
  name: "digests",
  version: 1,
  isData: (value): value is Digests => hasFields(value, { byPath: "object" }),
};

const fileOf = (place: OpenPlace): string => `${displayPath(place.directory)}/digests.json`;

/** The manifest that was recorded when the sandbox was made. */
export function readManifestBytes(place: OpenPlace): Promise<Buffer> {
  return readFile(`${displayPath(place.directory)}/manifest`);
}

/** What a path was when the sandbox was made; its digest is kept before it is lost. */
export async function keepBase(
  place: OpenPlace,
  path: RelativePath,
  present: TreeEntry | null,
): Promise<EntryState | null> {
  const manifest = Manifest.fromBytes(await readManifestBytes(place));
  const record = manifest?.find(path) ?? -1;
  if (manifest === null || record < 0) return null;
  const base = manifest.baseEntry(record);
  const { byPath } = (await readRecord(fileOf(place), FORMAT)) ?? { byPath: {} };
  let hash = byPath[path] ?? null;
  if (hash === null && base.type === "file" && present !== null && sameIdentity(present, base)) {
    hash = hashFile(`${place.root}/${path}` as BytePath);
    await writeRecord(fileOf(place), FORMAT, { byPath: { ...byPath, [path]: hash } });
  }
  return entryState(base, hash);
}

/**
 * Completes changes whose earlier content is gone: by the digests that were kept, else by size and time. A changed mode
 * alone is then no modification.
 */
export async function completeChanges(
  place: OpenPlace,
  changes: readonly Change[],
): Promise<Change[]> {
  const kept = await readRecord(fileOf(place), FORMAT);
  return changes.map((change) => {
    const { before, after } = change;
    if (change.kind !== "modified" || before === null || after === null) return change;
    const hash = kept?.byPath[changedPathBytes(change).toString("latin1")] ?? null;
    const isEqual =
      hash === null
        ? before.size === after.size && before.mtimeNs === after.mtimeNs
        : hash === after.hash;
    const kind: ChangeKind = before.mode === after.mode ? "attributesChanged" : "modeChanged";
    return { ...change, before: { ...before, hash }, kind: isEqual ? kind : "modified" };
  });
}
