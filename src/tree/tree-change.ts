import type { BytePath, RelativePath } from "../model/byte-path.ts";
import type { SkippedEntry } from "../model/change.ts";
import type { TreeEntry } from "./tree-entry.ts";

/** One path that differs between the base and the sandbox, before anybody hashed or rendered it. */
export interface TreeChange {
  readonly path: RelativePath;
  /** The entry of the real resource that the sandbox started from; null when there was none. */
  readonly before: TreeEntry | null;
  /** The entry as the sandbox has it; null when it was removed there. */
  readonly after: TreeEntry | null;
  /** Absolute path at which the sandbox's own entry lies (in the workspace or in a layer); null for removals. */
  readonly source: BytePath | null;
  /** `move`: the source may be renamed away (nobody else needs or can write it); `clone`: it must stay. */
  readonly take: "move" | "clone";
  /** Names of the overlay marks that the source carries, where somebody has looked already. */
  readonly marks?: readonly string[];
  /** Content is known to differ (`true`), to be equal (`false`), or nobody has compared yet (`null`). Files only. */
  readonly contentDiffers: boolean | null;
  /** Only times of a folder differ because entries below it changed: published, not listed. */
  readonly implied?: boolean;
  /** The entry is a further name of this unchanged or changed path of the sandbox (hard link). */
  readonly linkTo?: RelativePath;
  /** Where this added entry was before, when the strategy knows it for sure. */
  readonly movedFrom?: RelativePath;
  /** What a reader should know, such as `hard link split`. */
  readonly notes?: readonly string[];
}

/** All that differs, sorted by path bytes (parents before children). */
export interface ChangeSet {
  readonly changes: readonly TreeChange[];
  readonly skipped: readonly SkippedEntry[];
}
