/** What a strategy can promise. Everything left out counts as absent, so a silent strategy is treated with caution. */
export interface StrategyCapabilities {
  /** `full`: edits stay in the sandbox until commit. `none`: they take effect at once. Default `none`. */
  readonly isolation?: "full" | "none";
  /** `undoCommit` takes a commit back exactly and keeps the edits. */
  readonly undoCommit?: boolean;
  /** The two-phase methods exist: after `prepare`, commit or abandonment succeeds even if this process dies. */
  readonly prepare?: boolean;
  /** `outcome` can tell after a crash whether a commit happened. */
  readonly outcome?: boolean;
  /** Its own commit can carry the decision of a whole plan, up to `max` members of a group in one go. */
  readonly decides?: { readonly group: string; readonly max: number };
  /** `getPath` gives a directory or file that any program may work in. */
  readonly path?: boolean;
  /** `beginCopy` and `endCopy` exist: a command works on a private copy, which it finds in the place of the one file that the resource is, or by an address in its environment. */
  readonly copies?: boolean;
  /** `beginCommand` and `endCommand` exist: the commands of the plan run in surroundings of its own, such as a container. */
  readonly encloses?: boolean;
  /** `list`, `remove` and `rename` exist. */
  readonly pathCalls?: boolean;
  /** `read` is given a query and `write` a name for its statements, not paths: both are handed on as they are. */
  readonly queries?: boolean;
  /** `native`: constant or cheap snapshots; `emulated`: copies; `none`: checkpoint calls are refused. Default `none`. */
  readonly checkpoints?: "native" | "emulated" | "none";
  /** `fork` makes a second sandbox from a checkpoint of the first; needs checkpoints. */
  readonly forks?: boolean;
  /** `drop` takes single edits back. */
  readonly drops?: boolean;
  /** `resolve` settles conflicts path by path. */
  readonly resolves?: boolean;
  /** `exact`: knows what changed; `scan`: compares. Default `scan`. */
  readonly changeTracking?: "exact" | "scan";
  /**
   * `tree`: files, folders and links, with modes and owners. `files`: contents under names and nothing else; a folder is
   * there as long as something lies below it, and is never a change. Default `tree`.
   */
  readonly entries?: "tree" | "files";
}

/** Capabilities with every default filled in. */
export interface DeclaredCapabilities {
  readonly isolation: "full" | "none";
  readonly undoCommit: boolean;
  readonly prepare: boolean;
  readonly outcome: boolean;
  readonly decides: { readonly group: string; readonly max: number } | null;
  readonly path: boolean;
  readonly copies: boolean;
  readonly encloses: boolean;
  readonly pathCalls: boolean;
  readonly queries: boolean;
  readonly checkpoints: "native" | "emulated" | "none";
  readonly forks: boolean;
  readonly drops: boolean;
  readonly resolves: boolean;
  readonly changeTracking: "exact" | "scan";
  readonly entries: "tree" | "files";
}

/** Fills in the cautious defaults. */
export function withDefaults(declared: StrategyCapabilities | undefined): DeclaredCapabilities {
  return {
    isolation: declared?.isolation ?? "none",
    undoCommit: declared?.undoCommit ?? false,
    prepare: declared?.prepare ?? false,
    outcome: declared?.outcome ?? false,
    decides: declared?.decides ?? null,
    path: declared?.path ?? false,
    copies: declared?.copies ?? false,
    encloses: declared?.encloses ?? false,
    pathCalls: declared?.pathCalls ?? false,
    queries: declared?.queries ?? false,
    checkpoints: declared?.checkpoints ?? "none",
    forks: declared?.forks ?? false,
    drops: declared?.drops ?? false,
    resolves: declared?.resolves ?? false,
    changeTracking: declared?.changeTracking ?? "scan",
    entries: declared?.entries ?? "tree",
  };
}
