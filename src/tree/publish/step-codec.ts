import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import type { EntryRecord, LeafRecord } from "./entry-record.ts";
import type {
  FolderAttributes,
  RecordedEntry,
  StagedLink,
  Step,
  StepList,
  TouchedFolder,
} from "./step.ts";

/** A record on disk: type letter, inode, mtime, then size and ctime, or for directories mode, owner and group. */
type PackedRecord =
  | readonly [type: string, ino: string, mtime: string, size: number, ctime: string]
  | readonly ["d", ino: string, mtime: string, mode: number, uid: number, gid: number];

type PackedStep = readonly [
  op: Step["op"],
  path: string,
  folder: number,
  slot: string,
  staged: PackedRecord | null,
  old: PackedRecord | null,
  below?: PackedEntries,
  inside?: PackedEntries,
  links?: readonly PackedLink[],
];

/** Recorded entries on disk. */
export type PackedEntries = readonly (readonly [path: string, record: PackedRecord])[];

type PackedLink = readonly [
  staged: string,
  target: string,
  record: PackedRecord,
  folder: readonly [mode: number, mtime: string] | null,
];

type PackedFolder = readonly [
  path: string,
  ino: string,
  before: FolderAttributes,
  beforeMtime: string,
  after: FolderAttributes | null,
  afterMtime: string | null,
  drifted: boolean,
];

interface PackedSteps {
  readonly root: string;
  readonly only: string | null;
  readonly folders: readonly PackedFolder[];
  readonly steps: readonly PackedStep[];
}

const LETTERS = { file: "f", symlink: "l", special: "s" } as const;
const TYPES: Readonly<Record<string, LeafRecord["type"]>> = {
  f: "file",
  l: "symlink",
  s: "special",
};

/** A record in its form on disk. */
function packRecord(record: EntryRecord): PackedRecord {
  const [ino, mtime] = [record.ino.toString(), record.mtimeNs.toString()];
  return record.type === "directory"
    ? ["d", ino, mtime, record.mode, record.uid, record.gid]
    : [LETTERS[record.type], ino, mtime, record.size, record.ctimeNs.toString()];
}

/** A record from its form on disk. */
function unpackRecord(packed: PackedRecord): EntryRecord {
  const [ino, mtimeNs] = [BigInt(packed[1]), BigInt(packed[2])];
  if (packed.length === 6) {
    return { type: "directory", ino, mtimeNs, mode: packed[3], uid: packed[4], gid: packed[5] };
  }
  const type = TYPES[packed[0]]!;
  return { type, ino, mtimeNs, size: packed[3], ctimeNs: BigInt(packed[4]) };
}

/** Recorded entries in their form on disk. */
export function packEntries(entries: readonly RecordedEntry[]): PackedEntries {
  return entries.map(([path, record]) => [path, packRecord(record)]);
}

/** Recorded entries from their form on disk. */
export function unpackEntries(packed: PackedEntries): RecordedEntry[] {
  return packed.map(([path, record]) => [path as RelativePath, unpackRecord(record)]);
}

/** The steps in their form on disk, ready for JSON. */
export function packSteps(list: StepList): PackedSteps {
  return {
    root: list.root.ino.toString(),
    only: list.only,
    folders: list.folders.map((folder) => [
      folder.path,
      folder.ino.toString(),
      folder.before,
      folder.beforeMtimeNs.toString(),
      folder.after,
      folder.afterMtimeNs?.toString() ?? null,
      folder.drifted,
    ]),
    steps: list.steps.map(packStep),
  };
}

function packStep(step: Step): PackedStep {
  const { op, path, folder, slot, staged, old } = step;
  const head = [
    op,
    path,
    folder,
    slot,
    staged === null ? null : packRecord(staged),
    old === null ? null : packRecord(old),
  ] as const;
  const { below, inside, links } = step;
  if (below.length === 0 && inside.length === 0 && links.length === 0) return head;
  return [...head, packEntries(below), packEntries(inside), links.map(packLink)];
}

function packLink({ staged, target, record, folder }: StagedLink): PackedLink {
  const packed = folder === null ? null : ([folder.mode, folder.mtimeNs.toString()] as const);
  return [staged, target, packRecord(record), packed];
}

/** The steps from their form on disk; the checksum has vouched for it. */
export function unpackSteps(packed: unknown): StepList {
  const { root, only, folders, steps } = packed as PackedSteps;
  return {
    root: { ino: BigInt(root) },
    only: only as BytePath | null,
    folders: folders.map(unpackFolder),
    steps: steps.map(unpackStep),
  };
}

function unpackFolder(packed: PackedFolder): TouchedFolder {
  const [path, ino, before, beforeMtime, after, afterMtime, drifted] = packed;
  return {
    path: path as RelativePath,
    ino: BigInt(ino),
    before,
    beforeMtimeNs: BigInt(beforeMtime),
    after,
    afterMtimeNs: afterMtime === null ? null : BigInt(afterMtime),
    drifted,
  };
}

const NO_ENTRIES: readonly RecordedEntry[] = [];
const NO_LINKS: readonly StagedLink[] = [];

function unpackStep(packed: PackedStep): Step {
  const [op, path, folder, slot, staged, old, below, inside, links] = packed;
  return {
    op,
    path: path as RelativePath,
    folder,
    slot: slot as RelativePath,
    staged: staged === null ? null : unpackRecord(staged),
    old: old === null ? null : unpackRecord(old),
    below: below === undefined ? NO_ENTRIES : unpackEntries(below),
    inside: inside === undefined ? NO_ENTRIES : unpackEntries(inside),
    links: links?.map(unpackLink) ?? NO_LINKS,
  };
}

function unpackLink([staged, target, record, folder]: PackedLink): StagedLink {
  return {
    staged: staged as RelativePath,
    target: target as RelativePath,
    record: unpackRecord(record),
    folder: folder === null ? null : { mode: folder[0], mtimeNs: BigInt(folder[1]) },
  };
}
