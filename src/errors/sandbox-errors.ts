import { hideAllPasswords } from "./passwords.ts";
import { SandboxError } from "./sandbox-error.ts";

/** A sandbox could not be made; nothing of it remains except what `residue` lists. */
export class SandboxCreationError extends SandboxError<{
  readonly stage: string;
  readonly residue: readonly string[];
}> {
  readonly code = "SANDBOX_CREATION";
}

/** The call does not fit the sandbox's status, or the ref is not one that this state directory knows. */
export class SandboxStateError extends SandboxError<{
  readonly status: string;
  readonly attempted: string;
  readonly allowedFrom: readonly string[];
  readonly reason?: "status" | "unknownRef" | "alteredRef" | "unknownPlan" | "circle";
}> {
  readonly code = "SANDBOX_STATE";
}

/** What a failed commit tells. */
export interface CommitFailure {
  /** Whether the real resource is proven to be as before. */
  readonly originalRestored: boolean;
  /** Where undo data lies that must not be removed; null when none is needed. */
  readonly undoDataAt: string | null;
  readonly failedPath: string | null;
  readonly appliedCount: number;
  readonly reason?: string;
  /** The commit that a repository was at before, when that is what has to come back. */
  readonly revisionBefore?: string;
  /** Every path that the commit is refused for, when it is for what they are. */
  readonly paths?: readonly string[];
}

/** A commit failed. `originalRestored` says whether the real resource is as before. */
export class SandboxCommitError extends SandboxError<CommitFailure> {
  readonly code: string = "SANDBOX_COMMIT";
}

/** Somebody else changed what this sandbox wants to change; nothing was published. */
export class SandboxConflictError extends SandboxCommitError {
  override readonly code = "SANDBOX_CONFLICT";
  override readonly data: CommitFailure & { readonly conflicts: readonly ConflictDetail[] };

  constructor(
    message: string,
    init: ConstructorParameters<typeof SandboxError>[1] & {
      data: CommitFailure & { readonly conflicts: readonly ConflictDetail[] };
    },
  ) {
    super(message, init);
    this.data = hideAllPasswords(init.data);
  }
}

/** One conflicting path inside an error; the shape of `Conflict` in the model. */
export interface ConflictDetail {
  readonly path: string;
  readonly pathBytes?: string;
  readonly reason: string;
  readonly base: unknown;
  readonly theirs: unknown;
  readonly ours: unknown;
}

/** A rollback or undo was refused or failed. */
export class SandboxRollbackError extends SandboxError<{
  readonly reason: "notUndoable" | "undoDataMissing" | "foreignEdits" | "io";
  readonly originalRestored: boolean;
  readonly undoDataAt: string | null;
  readonly asideAt: string | null;
  /** The paths that somebody else changed, when that is the reason. */
  readonly paths?: readonly string[];
}> {
  readonly code = "SANDBOX_ROLLBACK";
}

/** Something of the sandbox could not be removed; calling `cleanup` again finishes it. */
export class SandboxCleanupError extends SandboxError<{ readonly remaining: readonly string[] }> {
  readonly code = "SANDBOX_CLEANUP";
}

/** A path inside a sandbox cannot be used for the call. */
export class SandboxPathError extends SandboxError<{
  readonly path: string;
  readonly reason:
    | "missing"
    | "directory"
    | "notDirectory"
    | "special"
    | "symlink"
    | "unreadable"
    | "unwritable"
    | "exists"
    | "notEmpty"
    | "outside"
    /** There is no edit at the path, and none below it. */
    | "unchanged"
    | "tooLong";
}> {
  readonly code = "SANDBOX_PATH";
}

/** The checkpoint cannot be made, found or restored. */
export class CheckpointError extends SandboxError<{
  readonly checkpointId: string;
  readonly reason:
    | "unknown"
    | "duplicate"
    | "malformed"
    | "unsupported"
    /** The plan has other sandboxes than when it was made. */
    | "members"
    | "damaged"
    | "failed";
  /** After a restore that could not be taken back either: the checkpoint that holds the state before it. */
  readonly keptAs?: string;
  /** The folder in which the strategy keeps that state and the wanted one; null when it does not say. */
  readonly keptAt?: string | null;
}> {
  readonly code = "CHECKPOINT";
}

/** A path would lead out of the place it must stay in. */
export class PathEscapeError extends SandboxError<{
  readonly requested: string;
  readonly root: string;
}> {
  readonly code = "PATH_ESCAPE";
}

/** Another call or process holds the plan or resource. */
export class PlanBusyError extends SandboxError<{
  readonly holder: {
    readonly pid: number | null;
    readonly host: string | null;
    readonly since: string | null;
  };
}> {
  readonly code = "PLAN_BUSY";
}

/** There is not enough room; nothing was changed. */
export class InsufficientSpaceError extends SandboxError<{
  readonly needed: number;
  readonly free: number;
  readonly fileSystem: string;
  readonly unit?: "bytes" | "inodes";
}> {
  readonly code = "INSUFFICIENT_SPACE";
}

/** A program or step took longer than it may. */
export class OperationTimeoutError extends SandboxError<{
  readonly limitMs: number;
  readonly childEnded: boolean;
}> {
  readonly code = "OPERATION_TIMEOUT";
}
