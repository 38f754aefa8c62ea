/** What taking a commit back would do to a resource, and what stands in the way. */
export interface UndoPreview {
  readonly possible: boolean;
  /** Whether the strategy looked; where it cannot, only the undo itself finds an obstacle in the resource. */
  readonly isChecked: boolean;
  /** The error that an undo would throw now; null when it is possible. */
  readonly obstacle: {
    readonly code: string;
    readonly message: string;
    readonly hint: string | null;
  } | null;
  /** Paths that get their earlier content back, that go, and that come back; relative to the resource. */
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  readonly restored: readonly string[];
}
