import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import type { TreeEntry } from "../tree-entry.ts";
import type { EntryRecord } from "./entry-record.ts";

/** An entry of a removed or replaced directory, by its path below the root. */
export type RecordedEntry = readonly [path: RelativePath, record: EntryRecord];

/** A staged name that becomes a further name of a real file when the step is applied. */
export interface StagedLink {
  /** Place below the folder of staged entries. */
  readonly staged: RelativePath;
  /** The unchanged real file. */
  readonly target: RelativePath;
  readonly record: EntryRecord;
  /** What the staged folder around it must have again afterwards; null directly in the folder of staged entries. */
  readonly folder: { readonly mode: number; readonly mtimeNs: bigint } | null;
}

/** One rename that publishes a file, a link or a whole directory, or takes one away. */
export interface Step {
  readonly op: "create" | "replace" | "remove";
  readonly path: RelativePath;
  /** Position of the folder that holds the path in `StepList.folders`. */
  readonly folder: number;
  /** Name in the folder of staged entries: the new entry before the step, the old one after it. */
  readonly slot: RelativePath;
  /** What gets published; null for removals. */
  readonly staged: EntryRecord | null;
  /** What is expected at the path; null when nothing must be there. */
  readonly old: EntryRecord | null;
  /** Everything inside an old directory. */
  readonly below: readonly RecordedEntry[];
  /** Everything inside a new directory. */
  readonly inside: readonly RecordedEntry[];
  readonly links: readonly StagedLink[];
}

/** Mode, owner and extended attributes of a directory. */
export interface FolderAttributes {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly xattrs: TreeEntry["xattrs"];
}

/** A real directory that stays where it is while names in it, or its own attributes, change. */
export interface TouchedFolder {
  readonly path: RelativePath;
  readonly ino: bigint;
  /** As it was when the changes were staged. */
  readonly before: FolderAttributes;
  readonly beforeMtimeNs: bigint;
  /** What it is given; null when its attributes stay. */
  readonly after: FolderAttributes | null;
  /** Null when the sandbox says nothing about the time. */
  readonly afterMtimeNs: bigint | null;
  /** Its attributes were not those that the sandbox started from. */
  readonly drifted: boolean;
}

/** Everything that one transaction does to one resource, in the order in which it is done. */
export interface StepList {
  /** Device numbers are left out: they may differ after a reboot. */
  readonly root: { readonly ino: bigint };
  readonly only: BytePath | null;
  readonly folders: readonly TouchedFolder[];
  readonly steps: readonly Step[];
}

/** Where a transaction publishes, and where it keeps what is staged and later what is needed for undo. */
export interface PublishPlace {
  /** The real directory, or the folder that holds a single-file resource. Absolute. */
  readonly root: BytePath;
  /** The folder of this transaction and resource, on the root's file system. Absolute. */
  readonly stage: BytePath;
  /**
   * Whether time has passed since the steps were verified, as after a crash: what somebody else made of a path
   * meanwhile then stays where it is, instead of being taken aside.
   */
  readonly leavesForeign?: boolean;
}
