import {
  CheckpointError,
  type CommitFailure,
  SandboxCleanupError,
  SandboxCommitError,
  SandboxConflictError,
  SandboxError,
  SandboxPathError,
  SandboxRollbackError,
  describeThrown,
  errnoHint,
} from "../errors/index.ts";

type RollbackFailure = SandboxRollbackError["data"];

/** Whatever a commit threw as an error of the family; what is one already stays what it is. */
export function asCommitError(thrown: unknown, originalRestored: boolean): SandboxError {
  if (thrown instanceof SandboxError) return thrown;
  return new SandboxCommitError(`The commit failed: ${describeThrown(thrown)}`, {
    data: { originalRestored, undoDataAt: null, failedPath: null, appliedCount: 0 },
    operation: "commit",
    hint: originalRestored
      ? "The resource is as before and the edits are kept: remove the cause and commit again."
      : "It is not proven what the commit did to the resource. Run recover, or look at it yourself.",
    cause: thrown,
  });
}

/** Whatever a rollback or undo threw as an error of the family. */
export function asRollbackError(thrown: unknown): SandboxError {
  if (thrown instanceof SandboxError) return thrown;
  return rollbackError("io", `The rollback failed: ${describeThrown(thrown)}`, { cause: thrown });
}

/** A rollback error with the usual data. */
export function rollbackError(
  reason: RollbackFailure["reason"],
  message: string,
  details: {
    readonly cause?: unknown;
    readonly hint?: string;
    readonly undoDataAt?: string | null;
    readonly originalRestored?: boolean;
  } = {},
): SandboxRollbackError {
  const { hint, undoDataAt = null, originalRestored = false } = details;
  return new SandboxRollbackError(message, {
    data: { reason, originalRestored, undoDataAt, asideAt: null },
    operation: "rollback",
    hint,
    ...("cause" in details && { cause: details.cause }),
  });
}

/** An undo that was given up, where what it had begun is still there: only recovery makes sure that nothing was undone. */
export function unsettledUndo(error: SandboxError, undoDataAt: string): SandboxError {
  if (undoDataOf(error) !== null) return error;
  const hint = "Remove the cause and run recover.";
  const cause = error instanceof SandboxRollbackError ? error.cause : error;
  return rollbackError("io", error.message, { cause, undoDataAt, hint }).inContext(error);
}

/** Whatever a call on a path threw as an error of the family. */
export function asPathError(
  thrown: unknown,
  path: string,
  operation: string,
  reason: "unreadable" | "unwritable",
): SandboxError {
  if (thrown instanceof SandboxError) return thrown;
  return new SandboxPathError(
    `${operation} failed${path === "" ? "" : ` on ${JSON.stringify(path)}`}: ${describeThrown(thrown)}`,
    {
      data: { path, reason },
      operation,
      hint: errnoHint(thrown),
      cause: thrown,
    },
  );
}

/** Whatever a checkpoint call threw as an error of the family. */
export function asCheckpointError(
  thrown: unknown,
  checkpointId: string,
  operation: string,
): SandboxError {
  if (thrown instanceof CheckpointError) return underOwnId(thrown, checkpointId);
  if (thrown instanceof SandboxError) return thrown;
  return new CheckpointError(`${operation} of ${checkpointId} failed: ${describeThrown(thrown)}`, {
    data: { checkpointId, reason: "failed" },
    operation,
    cause: thrown,
  });
}

/** A strategy knows a checkpoint by another id than the caller. */
function underOwnId(thrown: CheckpointError, checkpointId: string): CheckpointError {
  if (thrown.data.checkpointId === checkpointId) return thrown;
  return new CheckpointError(thrown.message, {
    data: { ...thrown.data, checkpointId },
    operation: thrown.operation ?? undefined,
    hint: thrown.hint ?? undefined,
    cause: thrown.cause,
  });
}

/** A restore that failed half way and could not be taken back: nothing was deleted, and the error says where it is. */
export function stuckRestore(
  thrown: unknown,
  checkpointId: string,
  keptAs: string,
): CheckpointError {
  const message = `restoreCheckpoint of ${checkpointId} failed and could not be taken back: ${describeThrown(thrown)}`;
  return new CheckpointError(message, {
    data: { checkpointId, reason: "failed", keptAs, keptAt: keptAtOf(thrown) },
    operation: "restoreCheckpoint",
    hint: `The state before is kept as checkpoint ${keptAs}. Remove the cause and run recover.`,
    cause: thrown,
  });
}

function keptAtOf(thrown: unknown): string | null {
  if (!(thrown instanceof Error) || !("keptAt" in thrown)) return null;
  return typeof thrown.keptAt === "string" ? thrown.keptAt : null;
}

/** Whatever a clean-up threw as an error of the family. */
export function asCleanupError(thrown: unknown, remaining: readonly string[] = []): SandboxError {
  if (thrown instanceof SandboxError) return thrown;
  return new SandboxCleanupError(`The clean-up failed: ${describeThrown(thrown)}`, {
    data: { remaining },
    operation: "cleanup",
    hint: "Remove the cause and call cleanup again.",
    cause: thrown,
  });
}

/**
 * The same failure with the truth about the resource, which the thrower could not know. An error of the same kind is
 * stated anew, never put inside a second one: its cause stays the cause.
 */
export function restated(
  thrown: unknown,
  kind: "commit" | "undo",
  truth: Pick<CommitFailure, "originalRestored" | "undoDataAt">,
): SandboxError {
  const asBefore = { commit: "as before and the edits are kept", undo: "as it was committed" }[
    kind
  ];
  const hint = truth.originalRestored
    ? `The resource is ${asBefore}: remove the cause and try again.`
    : "Everything needed to bring the resource back is kept. Remove the cause and run recover.";
  return kind === "undo" ? restatedUndo(thrown, truth, hint) : restatedCommit(thrown, truth, hint);
}

type Truth = Parameters<typeof restated>[2];

function restatedCommit(thrown: unknown, truth: Truth, hint: string): SandboxError {
  if (thrown instanceof SandboxConflictError) {
    const data = { ...thrown.data, ...truth };
    return new SandboxConflictError(thrown.message, {
      data,
      operation: "commit",
      hint,
      cause: thrown.cause,
    });
  }
  if (thrown instanceof SandboxCommitError) {
    const data = { ...thrown.data, ...truth };
    return new SandboxCommitError(thrown.message, {
      data,
      operation: "commit",
      hint,
      cause: thrown.cause,
    });
  }
  if (thrown instanceof SandboxError && truth.originalRestored) return thrown;
  const data = { ...truth, failedPath: null, appliedCount: 0 };
  const message = `The commit failed: ${describeThrown(thrown)}`;
  return new SandboxCommitError(message, { data, operation: "commit", hint, cause: thrown });
}

function restatedUndo(thrown: unknown, truth: Truth, hint: string): SandboxError {
  const { undoDataAt } = truth;
  if (thrown instanceof SandboxRollbackError) {
    // What an undo gives back is the state before the commit; one that was taken back never has.
    const originalRestored = !truth.originalRestored && thrown.data.originalRestored;
    const data = {
      ...thrown.data,
      originalRestored,
      undoDataAt: thrown.data.undoDataAt ?? undoDataAt,
    };
    return new SandboxRollbackError(thrown.message, {
      data,
      operation: "undoCommit",
      hint,
      cause: thrown.cause,
    });
  }
  // Publishing does not know in which direction it goes; to the caller it is the undo that failed.
  const isStep = thrown instanceof SandboxCommitError;
  if (thrown instanceof SandboxError && !isStep && truth.originalRestored) return thrown;
  const message = `The undo failed: ${describeThrown(thrown)}`;
  return rollbackError("io", message, { cause: isStep ? thrown.cause : thrown, hint, undoDataAt });
}

/** Where a strategy says that the only good copy lies; null when it says nothing. */
export function undoDataOf(thrown: unknown): string | null {
  if (!(thrown instanceof SandboxError)) return null;
  const { undoDataAt } = thrown.data as { readonly undoDataAt?: unknown };
  return typeof undoDataAt === "string" ? undoDataAt : null;
}
