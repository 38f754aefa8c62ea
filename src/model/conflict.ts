import type { EntryState } from "./change.ts";

/** Why a path cannot be published over what is really there. */
export type ConflictReason =
  /** The real entry was changed after the sandbox was made. */
  | "changed"
  /** The real entry is gone. */
  | "missing"
  /** Something is there that was not when the sandbox was made. */
  | "exists"
  /** A folder above the path is another one now. */
  | "ancestorReplaced"
  /** A merge was asked for and the common ancestor cannot be proven. */
  | "noAncestor"
  /** A merge was asked for and both sides changed the same lines. */
  | "overlap"
  /** A git lock of the real repository is held. */
  | "locked";

/** One path that both sides changed. */
export interface Conflict {
  readonly path: string;
  readonly pathBytes?: string;
  readonly reason: ConflictReason;
  readonly base: EntryState | null;
  readonly theirs: EntryState | null;
  readonly ours: EntryState | null;
}
