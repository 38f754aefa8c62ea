import type { CallOptions, ListedEntry } from "../contract/strategy.ts";
import type { BytePath, RelativePath } from "../model/byte-path.ts";
import type { DriftEntry } from "../model/diff-view.ts";
import type { Resource } from "../model/resource.ts";
import type { Json, SandboxRef } from "../model/sandbox-ref.ts";
import type { ChangeSet, TreeChange } from "./tree-change.ts";
import type { Identity, TreeEntry } from "./tree-entry.ts";

/** Where one sandbox of a file strategy lives and what it stands for. All paths are absolute. */
export interface SandboxPlace {
  readonly sandboxId: string;
  readonly resource: Resource;
  /** The private folder of this sandbox, on the resource's device. */
  readonly directory: BytePath;
  /** The real directory: the resource itself, or the folder that holds a single-file resource. */
  readonly root: BytePath;
  /** For a single-file resource its name in `root`; every other name is outside the sandbox. */
  readonly only: BytePath | null;
  /** Paths below the root that hold our own state: never walked, shown or published. */
  readonly exclude: readonly RelativePath[];
}

/** A sandbox that exists. */
export interface OpenPlace extends SandboxPlace {
  readonly ref: SandboxRef;
}

/** Tells whether the real entry still is the one that the sandbox started from. */
export interface BaseCheck {
  /**
   * `path` is relative to the root; `parents` are its ancestors' present entries, the root first.
   * Gives null when the base is unchanged there, else what happened.
   */
  verify(
    path: RelativePath,
    real: TreeEntry | null,
    before: TreeEntry | null,
    parents: readonly TreeEntry[],
    /** Whether the sandbox removes the entry, so that a folder must also hold the same names as before. */
    isRemoval: boolean,
  ): "changed" | "missing" | "exists" | "ancestorReplaced" | null;
}

/** What `create` of a workspace tells for the ref. */
export interface MadeWorkspace {
  /** Facts for the ref, such as `{ mode: "kernel", reason: … }`. */
  readonly metadata: { readonly [key: string]: Json };
}

/**
 * What a file strategy supplies: how a workspace is made, looked at, reset and removed. Diff, conflicts, staging,
 * publishing and undo are the tree engine's and exist once.
 */
export interface Workspace {
  /** Builds the workspace below `place.directory`, which exists and is empty. */
  create(place: SandboxPlace, options?: CallOptions): Promise<MadeWorkspace>;
  /** What differs from the base. Changes nothing and needs no mount. */
  changes(place: OpenPlace, options?: CallOptions): Promise<ChangeSet>;
  /** Whether a change counts, told as soon as one is found; without this `changes` is asked. */
  hasChange?(place: OpenPlace, counts: (change: TreeChange) => boolean): Promise<boolean>;
  /** What others changed in the real tree since the sandbox was made, apart from what the sandbox touched. Scans. */
  drift(place: OpenPlace, set: ChangeSet): Promise<readonly DriftEntry[]>;
  /** The entry that the sandbox started from, where the workspace has recorded it; null when there was none. */
  recorded?(place: OpenPlace, path: RelativePath): Promise<TreeEntry | null>;
  /** Whether the workspace can lie where the resource's property `workspaceDirectory` says. */
  readonly canLieElsewhere?: boolean;
  /** Folders outside the sandbox's own that hold parts of it; none unless told. */
  borrowedFrom?(place: OpenPlace): Promise<readonly BytePath[]>;
  /** A tree that holds every file of the base, for merges; only where the workspace keeps one. */
  baseTree?(place: OpenPlace): Promise<BytePath>;
  /** How the base of this sandbox is verified against the real tree. */
  baseCheck(place: OpenPlace): Promise<BaseCheck>;
  /** Content of a file as the sandbox sees it. */
  read(place: OpenPlace, path: RelativePath): Promise<Buffer>;
  /** Replaces or creates a file, missing folders included, atomically for readers. Mode of an existing file stays. */
  write(place: OpenPlace, path: RelativePath, content: Uint8Array): Promise<void>;
  /** The entry as the sandbox sees it; null when there is none. */
  stat(place: OpenPlace, path: RelativePath): Promise<TreeEntry | null>;
  list(place: OpenPlace, path: RelativePath): Promise<readonly ListedEntry[]>;
  remove(place: OpenPlace, path: RelativePath): Promise<void>;
  rename(place: OpenPlace, from: RelativePath, to: RelativePath): Promise<void>;
  /** A directory that outside programs may work in (mounts if needed); the file itself for single-file resources. */
  path(place: OpenPlace): Promise<BytePath>;
  /**
   * Makes the workspace quiet for publishing: unmounts, folds a copy back. Idempotent.
   * @throws SandboxRollbackError or SandboxCommitError (by `operation`) with the unmount failure as cause when busy.
   */
  quiesce(
    place: OpenPlace,
    operation: "commit" | "rollback" | "checkpoint" | "cleanup",
  ): Promise<void>;
  /** Throws all edits away: a fresh workspace over the resource as it is now. Leftovers are never merged. */
  discard(place: OpenPlace): Promise<{ readonly leftovers: readonly string[] }>;
  /**
   * The edits of a commit that was taken back are wanted again; `base` gives the present identity of every real path
   * that the commit touched, to be used from now on as the base of these paths.
   */
  rebase(place: OpenPlace, base: ReadonlyMap<RelativePath, Identity | null>): Promise<void>;
  /**
   * Shows at a path what the real tree has there now, with everything below; of a folder that both have it takes the
   * attributes alone. `real` is the entry that is there. The workspace is quiet.
   */
  takeBack(place: OpenPlace, path: RelativePath, real: TreeEntry | null): Promise<void>;
  /**
   * Takes real entries for the base of these paths, whatever it was before; checkpoints keep theirs. Of the folders in
   * `whole` everything that the real tree has below counts as well.
   */
  acceptBase(
    place: OpenPlace,
    base: ReadonlyMap<RelativePath, TreeEntry | null>,
    whole: readonly RelativePath[],
  ): Promise<void>;
  checkpoint(place: OpenPlace, checkpointId: string): Promise<void>;
  /** All or nothing: on failure the workspace is as before. */
  restore(place: OpenPlace, checkpointId: string): Promise<void>;
  /**
   * Builds the workspace below `place.directory`, which exists and is empty, from a checkpoint of another sandbox of the
   * same resource, which must be free to go away afterwards.
   */
  fork(
    from: OpenPlace,
    checkpointId: string,
    place: SandboxPlace,
    options?: CallOptions,
  ): Promise<void>;
  deleteCheckpoint(place: OpenPlace, checkpointId: string): Promise<void>;
  /** Removes everything below `place.directory`. Idempotent. Gives what could not be removed. */
  destroy(place: SandboxPlace): Promise<readonly string[]>;
}
