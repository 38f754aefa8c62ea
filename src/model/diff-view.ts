import type { Change, ChangeKind, SkippedEntry } from "./change.ts";

/** Counts for one line of text. */
export interface DiffSummary {
  readonly counts: Readonly<Partial<Record<ChangeKind, number>>>;
  readonly renamed: number;
  /** Bytes of content that a commit would publish. */
  readonly bytes: number;
}

/** A path of the real resource that changed since the sandbox was made without the sandbox touching it. */
export interface DriftEntry {
  readonly path: string;
  readonly pathBytes?: string;
  readonly reason: "changed" | "missing" | "new";
}

/** What a commit of the sandbox would do. */
export interface DiffView {
  readonly sandboxId: string;
  /** Fingerprint id of the state that the changes are relative to. */
  readonly base: string;
  /** What one change is about: `row` for databases, whose paths are tables and keys; left out for files and folders. */
  readonly unit?: "row";
  /** Sorted by path bytes. */
  readonly changes: readonly Change[];
  readonly summary: DiffSummary;
  readonly skipped: readonly SkippedEntry[];
  /** How many commits that are in the sandbox already are published with the changes; left out where there are none. */
  readonly commits?: number;
  /**
   * How many commits that are in the sandbox are not published: they do not descend from the one that it was made from,
   * and only their content comes along, or the sandbox is not at them any more; left out where there are none.
   */
  readonly strayCommits?: number;
  /** Only when asked for: what others changed in the real resource meanwhile. */
  readonly drift?: readonly DriftEntry[];
  /** SHA-256 over all changes, times left out: equal digests mean equal commits. */
  readonly digest: string;
  readonly isEmpty: boolean;
  /** Unified text of the textual changes; reads content only when called. */
  text(options?: {
    readonly paths?: readonly string[];
    readonly context?: number;
  }): Promise<string>;
}
