import {
  type RecordFormat,
  hasFields,
  readRecordSync,
  writeRecord,
} from "../../journal/record-file.ts";
import {
  type BytePath,
  type RelativePath,
  ancestorsOf,
  displayPath,
} from "../../model/byte-path.ts";
import { findBeneath } from "../../tree/beneath.ts";
import { type Identity, type TreeEntry, sameButChangeTime } from "../../tree/tree-entry.ts";

/** Real entries that count as the base of their paths, whatever the snapshot of the base has there. */
export type Accepted = ReadonlyMap<RelativePath, TreeEntry | null>;

type Wide = "ino" | "dev" | "mtimeNs" | "ctimeNs";
type Kept = Omit<TreeEntry, Wide> & Readonly<Record<Wide, string>>;

interface AcceptedRecord {
  readonly entries: readonly (readonly [path: string, entry: Kept | null])[];
}

const FORMAT: RecordFormat<AcceptedRecord> = {
  name: "accepted-base",
  version: 1,
  isData: (value): value is AcceptedRecord =>
    hasFields(value, { entries: "object" }) && Array.isArray(value["entries"]),
};

const fileOf = (folder: BytePath): string => `${displayPath(folder)}/accepted.json`;

/** What was accepted for the workspace, or the checkpoint, in a folder. */
export function readAccepted(folder: BytePath): Accepted {
  const { entries } = readRecordSync(fileOf(folder), FORMAT) ?? { entries: [] };
  return new Map(
    entries.map(([path, kept]) => [
      path as RelativePath,
      kept && {
        ...kept,
        ino: BigInt(kept.ino),
        dev: BigInt(kept.dev),
        mtimeNs: BigInt(kept.mtimeNs),
        ctimeNs: BigInt(kept.ctimeNs),
      },
    ]),
  );
}

/** Replaces what was accepted, durably. */
export async function writeAccepted(folder: BytePath, accepted: Accepted): Promise<void> {
  const entries = [...accepted].map(([path, entry]): [string, Kept | null] => [
    path,
    entry && {
      ...entry,
      ino: String(entry.ino),
      dev: String(entry.dev),
      mtimeNs: String(entry.mtimeNs),
      ctimeNs: String(entry.ctimeNs),
    },
  ]);
  await writeRecord(fileOf(folder), FORMAT, { entries });
}

/** The entry that a workspace started from: what was accepted for its path, else what the snapshot of the base has. */
export function baseEntry(
  base: BytePath,
  accepted: Accepted,
  path: RelativePath,
): TreeEntry | null {
  const own = accepted.get(path);
  if (own !== undefined) return own;
  const isGone = ancestorsOf(path).some((folder) => {
    const above = accepted.get(folder);
    return above !== undefined && above?.type !== "directory";
  });
  return isGone ? null : findBeneath(base, path);
}

/**
 * Takes the new change times of real entries that a commit moved away and an undo put back. One that is another entry
 * in anything else is somebody else's, and stays a conflict.
 */
export async function rebaseAccepted(
  folder: BytePath,
  base: BytePath,
  identities: ReadonlyMap<RelativePath, Identity | null>,
): Promise<void> {
  const accepted = new Map(readAccepted(folder));
  for (const [path, identity] of identities) {
    const entry = baseEntry(base, accepted, path);
    if (entry === null || identity === null) continue;
    if (sameButChangeTime(entry, identity))
      accepted.set(path, { ...entry, ctimeNs: identity.ctimeNs });
  }
  await writeAccepted(folder, accepted);
}
