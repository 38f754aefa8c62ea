import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import type { CopyOptions } from "../copy-entry.ts";
import type { TreeChange } from "../tree-change.ts";
import type { StagedLoss } from "./stage-entries.ts";
import type { PublishPlace } from "./step.ts";

/** What is to be staged. */
export interface StageRequest extends PublishPlace {
  /** The only name in the root that may change, for single-file resources; null for directories. */
  readonly only: BytePath | null;
  /** Policy and conflicts are settled: this is published as it stands. Every entry of a removed folder is listed. */
  readonly changes: readonly TreeChange[];
  /** Folders below which the sources lie; their own paths are trusted, nothing below them is. */
  readonly sourceRoots: readonly BytePath[];
  /** Paths below the root that stay as they are, also inside a removed folder, which then stays too. */
  readonly exclude?: readonly RelativePath[];
  /** How sources that stay are copied; `auto` unless told. */
  readonly reflink?: CopyOptions["reflink"];
}

/** What was staged. */
export interface StageSummary {
  /** Renames that publishing will take. */
  readonly count: number;
  /** Bytes of all staged files. */
  readonly bytes: number;
  readonly stepsChecksum: string;
  /** Owners and attributes that this process may not give. */
  readonly losses: readonly StagedLoss[];
}
