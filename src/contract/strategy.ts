import type { PathInput } from "../model/byte-path.ts";
import type { Change, EntryType } from "../model/change.ts";
import type { CommitResult } from "../model/commit-result.ts";
import type { DiffView } from "../model/diff-view.ts";
import type { Resource } from "../model/resource.ts";
import type { Json, SandboxRef } from "../model/sandbox-ref.ts";
import type { StrategyCapabilities } from "./capabilities.ts";
import type { CommandRequest, EndedCommand, HostCommand } from "./enclosed-command.ts";

/** Every method takes these last. */
export interface CallOptions {
  /** Ends the call early; what was begun is finished or taken back completely. */
  readonly signal?: AbortSignal;
}

/** Options of `diff`. */
export interface DiffOptions extends CallOptions {
  /** `full` also lists what others changed in the real resource meanwhile; costs a scan. */
  readonly drift?: "full";
}

/** What may be published although it needs permission. */
export interface PublishPolicy {
  /** Links that are new in the sandbox and point outside the resource. Default `refuse`. */
  readonly outwardLinks?: "refuse" | "allow";
  /** Setuid, setgid and sticky bits that are new in the sandbox. Default `refuse`; `drop` publishes without them. */
  readonly specialBits?: "refuse" | "drop" | "allow";
}

/** Options of `checkpoint`. */
export interface CheckpointOptions extends CallOptions {
  /** Kept with the checkpoint, for people. */
  readonly note?: string;
}

/** Options of `commit` and of `prepare`. */
export interface CommitOptions extends CallOptions {
  readonly message?: string;
  /** Commit only if the diff still has this digest. */
  readonly expect?: string;
  /** Resolve textual conflicts by a three-way merge where a common ancestor is proven. */
  readonly merge?: boolean;
  readonly policy?: PublishPolicy;
}

/** Options of `hasChanges`. */
export interface HasChangesOptions extends CallOptions {
  /** The ulid of the transaction whose `prepare` will follow, so that one look at the sandbox can serve both. */
  readonly transaction?: string;
}

/** Options of `cleanup`. */
export interface CleanupOptions extends CallOptions {
  /** Also remove undo data that is the only good copy of the user's data. */
  readonly force?: boolean;
}

/** Options of `cleanup`, as a strategy gets them. */
export interface RemovalOptions extends CleanupOptions {
  /**
   * Transactions that are decided and did not come to their end, by their `gid`: whether the others have what they
   * publish, or are as before it. Whoever leaves something prepared can say how it has to end.
   */
  readonly decided?: Readonly<Record<string, "published" | "reversed">>;
}

/** One member's part of a transaction. */
export interface TransactionPart {
  /** `coffer1:<installId>:<ulid>`: unique for ever, at most 64 bytes. */
  readonly gid: string;
  /** The ulid alone, for names on disk. */
  readonly ulid: string;
  /** Number of this member within the transaction. */
  readonly member: number;
  /** `undo` publishes the earlier state again. */
  readonly kind: "commit" | "undo";
  /** Another process began this, maybe long ago: what others changed since must stay as it is, and be told. */
  readonly recovering?: boolean;
  /** What `prepare` returned; kept durably with the intent. An object with `noop: true` means that nothing is to be done. */
  readonly record: Json;
  /** For an undo: the commit that is taken back, with the record it was made with, where one is known. */
  readonly undoes?: { readonly ulid: string; readonly record: Json };
}

/** Whose version of a path counts in a conflict. */
export type Resolution = "mine" | "theirs" | "merge";

/** An entry of a directory in a sandbox's view. */
export interface ListedEntry {
  readonly name: string;
  readonly nameBytes?: string;
  readonly type: EntryType;
}

/** An overlay of folders that shows a sandbox; whoever mounts it in a namespace of its own needs no privilege. */
export interface SandboxLayers {
  /** Absolute path of the folder that the names in `options` are relative to. */
  readonly folder: string;
  /** Options of the kernel's overlay. */
  readonly options: string;
}

/** A private copy of a resource that is one file, for a command that finds it in the place of the real one. */
export interface SandboxCopy {
  /** Absolute path of the real file, links resolved. */
  readonly location: string;
  /** Absolute path of the copy. Its folder is its own: programs may put further files beside it, such as journals. */
  readonly file: string;
}

/** A private copy that programs reach by an address instead of a path, such as a database of a server. */
export interface SandboxAddress {
  /** What the environment of the command says of it; null takes a variable away. */
  readonly environment: Readonly<Record<string, string | null>>;
  /** Whether it takes the network to get there. */
  readonly needsNetwork: boolean;
}

/** Whether a strategy can work on this machine. */
export interface ProbeResult {
  readonly works: boolean;
  /** The mode it would use, such as `kernel` or `reflink`. */
  readonly mode?: string;
  readonly reason?: string;
  /** What to install or change. */
  readonly hint?: string;
}

/**
 * How one kind of resource is isolated: the one contract for built-in and custom strategies.
 *
 * A strategy is stateless: the ref and the disk hold everything, so any method works in a new process. Statuses,
 * locks, the check of the ref and the wrapping of errors are the engine's work; a strategy never sees a call that
 * the status table forbids.
 */
export interface SandboxStrategy {
  /** What this strategy promises. Absent means: nothing. */
  readonly capabilities?: StrategyCapabilities;
  /**
   * What it promises for one sandbox, where that depends on the resource; told from the ref alone, always the same.
   * Without it `capabilities` holds for all. The methods must be those of `capabilities`.
   */
  capabilitiesOf?(ref: SandboxRef): StrategyCapabilities;

  /** Makes a sandbox and leaves the resource untouched. On failure it removes everything it made. */
  create(planId: string, resource: Resource, options?: CallOptions): Promise<SandboxRef>;
  /**
   * Removes whatever an interrupted `create` has left of the sandbox whose ref would have had this id; `host.newRef`
   * gives the id also before. Idempotent. Without it nothing is removed.
   */
  discardCreation?(planId: string, resource: Resource, sandboxId: string): Promise<void>;
  /** The exact bytes of a file as the sandbox sees it. */
  read(ref: SandboxRef, path: PathInput, options?: CallOptions): Promise<Uint8Array>;
  /** Puts a whole file into the sandbox, missing folders included. */
  write(
    ref: SandboxRef,
    path: PathInput,
    content: Uint8Array | string,
    options?: CallOptions,
  ): Promise<Change>;
  /** What a commit would do. Changes nothing. */
  diff(ref: SandboxRef, options?: DiffOptions): Promise<DiffView>;
  /** Publishes the sandbox's changes to the resource, all or none. */
  commit(ref: SandboxRef, options?: CommitOptions): Promise<CommitResult>;
  /** Discards the edits: the sandbox shows the resource as it is now. Never touches the resource. */
  rollback(ref: SandboxRef, options?: CallOptions): Promise<void>;
  /** Keeps the present state of the sandbox under an id. */
  checkpoint(ref: SandboxRef, checkpointId: string, options?: CheckpointOptions): Promise<void>;
  /**
   * Brings the sandbox back to a kept state; other checkpoints stay. An error of the family says that the sandbox is as
   * before; any other may have `keptAt`, the folder with both states, for an error that leaves them there.
   */
  restoreCheckpoint(ref: SandboxRef, checkpointId: string, options?: CallOptions): Promise<void>;
  /** Frees everything the sandbox owns. Idempotent; never touches the resource. */
  cleanup(ref: SandboxRef, options?: RemovalOptions): Promise<void>;

  /** Capability `path`: a directory (or file) that outside programs may work in; `path` is relative to the resource. */
  getPath?(ref: SandboxRef, path?: PathInput, options?: CallOptions): Promise<string>;
  /**
   * Instead of `getPath` for a command that runs in a mount namespace of its own: what to mount there. Null where
   * `getPath` is the better way. Until `endLayers` nobody else changes the sandbox.
   */
  beginLayers?(ref: SandboxRef): Promise<SandboxLayers | null>;
  /** The command has ended, and nothing has the layers mounted any more. */
  endLayers?(ref: SandboxRef): Promise<void>;
  /**
   * A command that had the layers mounted has failed: a few paths of the resource that nobody can change through them,
   * though the user could elsewhere. Found without looking at everything.
   */
  unchangeable?(ref: SandboxRef): Promise<readonly string[]>;
  /**
   * A command that worked in the sandbox has ended. What the resource still has of the entries that it edited may be
   * kept now, as the version that both sides of a later merge began with. Nothing that anybody sees changes.
   */
  keepBases?(ref: SandboxRef): Promise<void>;
  /**
   * Capability `copies`: makes a private copy of what the sandbox shows. It stays where it is, also when this process
   * ends, until `endCopy`; meanwhile nobody else changes the sandbox.
   */
  beginCopy?(ref: SandboxRef): Promise<SandboxCopy | SandboxAddress>;
  /**
   * Capability `copies`: the command has ended, however it ended; what it did in the copy becomes edits of the sandbox,
   * and the copy goes. Idempotent, also when another process began, or half ended it. An error of the family that has
   * `keptAt` in its data says that these edits were not taken and where the copy lies from now on; after any other error
   * the copy is still there for the next call.
   */
  endCopy?(ref: SandboxRef): Promise<void>;
  /**
   * Capability `encloses`: makes the surroundings of a command, and tells what has to be started in its place. It shows
   * the folders at their locations. Until `endCommand` nobody else changes the sandbox. On failure it removes what it made.
   */
  beginCommand?(ref: SandboxRef, request: CommandRequest): Promise<HostCommand>;
  /**
   * Capability `encloses`: what was started has ended, or whoever had started it was killed. Ends what still runs in the
   * surroundings, and takes what the command did to them into the sandbox. Idempotent, also when another process began, or
   * half ended it; after an error the next call does the rest. When that owner was killed, `rollback` or `cleanup` may
   * come first: they end the command too, and nothing of it is taken.
   */
  endCommand?(ref: SandboxRef): Promise<EndedCommand>;
  /** Capability `pathCalls`: the entries of a directory. */
  list?(ref: SandboxRef, path: PathInput, options?: CallOptions): Promise<readonly ListedEntry[]>;
  /** Capability `pathCalls`: removes an entry, directories with everything below. */
  remove?(ref: SandboxRef, path: PathInput, options?: CallOptions): Promise<void>;
  /** Capability `pathCalls`: moves an entry. */
  rename?(ref: SandboxRef, from: PathInput, to: PathInput, options?: CallOptions): Promise<void>;

  /**
   * Capability `drops`: takes the edits at these paths back, with everything below them: the sandbox has there what the resource has now, or
   * what it started from, and others' edits there are no conflict any more. Refuses a path without any edit.
   */
  drop?(ref: SandboxRef, paths: readonly PathInput[], options?: CallOptions): Promise<void>;
  /**
   * Capability `resolves`: settles conflicts at these paths and below them: `mine` will be published over what others have done there up to
   * now, `theirs` takes the edits that are in conflict back, `merge` makes the sandbox's version the three-way merge of
   * both. What others do later is a conflict again.
   * @throws SandboxConflictError when something cannot be merged; nothing is changed then.
   */
  resolve?(
    ref: SandboxRef,
    paths: readonly PathInput[],
    how: Resolution,
    options?: CallOptions,
  ): Promise<void>;

  /**
   * Whether a commit would publish anything. Changes nothing; where it says no, a commit costs nothing but the status.
   * Without it a commit always goes through `prepare`.
   */
  hasChanges?(ref: SandboxRef, options?: HasChangesOptions): Promise<boolean>;
  /**
   * Called before `commit` of this sandbox alone is recorded, so that what takes long can be done meanwhile: begins what
   * nobody else sees and what goes with the process. Disposed when the commit has ended, or never began.
   */
  expectCommit?(ref: SandboxRef): AsyncDisposable;
  /** Capability `prepare`: does everything that can fail; the answer is kept as `tx.record`. */
  prepare?(ref: SandboxRef, tx: TransactionPart, options?: CommitOptions): Promise<Json>;
  /** Capability `prepare`: locks briefly and verifies that the base still is what `prepare` saw. */
  fence?(ref: SandboxRef, tx: TransactionPart, options?: CommitOptions): Promise<void>;
  /** Capability `prepare`: applies what was prepared. Idempotent, only forward. */
  commitPrepared?(ref: SandboxRef, tx: TransactionPart): Promise<CommitResult>;
  /** Capability `prepare`: gives the prepared state back to the sandbox. Idempotent, also when `prepare` half ran. */
  abandonPrepared?(ref: SandboxRef, tx: TransactionPart): Promise<void>;
  /** Capability `prepare`: takes back what `commitPrepared` did in part. Idempotent. */
  reversePrepared?(ref: SandboxRef, tx: TransactionPart): Promise<void>;
  /**
   * Capability `prepare`: drops what is no longer needed. Called only after the outcome is recorded. With `decides`,
   * where it may be left out: drops what was kept of the decision, whichever it was. Idempotent.
   */
  forget?(ref: SandboxRef, tx: TransactionPart): Promise<void>;

  /**
   * Capability `decides`: commits these members of its group in one go (or, when `tx.kind` is `undo`, takes their last
   * commit back), together with a durable mark for `tx.gid`; that is the decision of the whole plan. Refuses when the
   * mark is there already. Everybody else is prepared by then, and can be given up when it throws.
   */
  commitDeciding?(
    refs: readonly SandboxRef[],
    tx: TransactionPart,
  ): Promise<readonly CommitResult[]>;
  /**
   * Capability `decides`: what was decided for `tx.gid`; records `propose` first when nothing was, so that a late commit
   * loses. Asked when `commitDeciding` threw, and by recovery. While it throws, the outcome of the plan is in doubt.
   */
  decided?(
    refs: readonly SandboxRef[],
    tx: TransactionPart,
    propose: "ABORT",
  ): Promise<"COMMIT" | "ABORT">;

  /** Capability `undoCommit`: makes the resource as it was before the commit and keeps the edits. Idempotent. */
  undoCommit?(ref: SandboxRef, options?: CallOptions): Promise<void>;
  /**
   * Whether the last commit can be taken back now. Without it, an undo itself finds out.
   * @throws what the undo would throw, before anything moves.
   */
  checkUndo?(ref: SandboxRef, options?: CallOptions): Promise<void>;
  /**
   * Gives the data up that `undoCommit` needs, and nothing else; idempotent. False when it must stay because somebody's
   * only copy is in it. Without it the data stays until `cleanup`.
   */
  dropUndo?(ref: SandboxRef): Promise<boolean>;
  /** Capability `outcome`: whether the commit of this transaction happened. */
  outcome?(ref: SandboxRef, tx: TransactionPart): Promise<"committed" | "aborted" | "unknown">;
  /**
   * Capability `forks`: makes a sandbox as `create` does, of the same resource in another plan. It begins with a kept
   * state of `source` and with the base of that state, not with a new one: what others changed since is a conflict
   * for both. Neither needs the other afterwards. On failure it removes everything it made.
   */
  fork?(
    source: SandboxRef,
    checkpointId: string,
    planId: string,
    options?: CallOptions,
  ): Promise<SandboxRef>;
  /** Drops one checkpoint. */
  deleteCheckpoint?(ref: SandboxRef, checkpointId: string): Promise<void>;
  /** Whether this strategy can work here, tried for real at the given place. */
  probe?(location?: string): Promise<ProbeResult>;
  /**
   * Ends what is kept for the next call, such as a connection; called when the instance is closed, after all other calls.
   * A call that comes later works all the same.
   */
  close?(): Promise<void>;
}

/** The nine methods that every strategy has. */
export const REQUIRED_METHODS = [
  "create",
  "read",
  "write",
  "diff",
  "commit",
  "rollback",
  "checkpoint",
  "restoreCheckpoint",
  "cleanup",
] as const satisfies readonly (keyof SandboxStrategy)[];
