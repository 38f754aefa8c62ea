import {
  SandboxCommitError,
  SandboxConflictError,
  SandboxError,
  SandboxRollbackError,
  describeThrown,
} from "../../errors/index.ts";
import { DriftError, type RowConflict } from "./engine.ts";
import { contentState } from "./row-changes.ts";

const AS_BEFORE = {
  originalRestored: true,
  undoDataAt: null,
  failedPath: null,
  appliedCount: 0,
} as const;

/** What a call on the log threw as an error of the family: a database that is not as the log found it is a conflict. */
export function asDatabaseError(thrown: unknown, operation: string): unknown {
  if (!(thrown instanceof DriftError)) return thrown;
  const [first] = thrown.conflicts;
  const end =
    operation === "commit" ? "nothing was published" : "the sandbox cannot be shown on top of them";
  return new SandboxConflictError(`${thrown.message}: ${namesOf(thrown.conflicts)}; ${end}`, {
    operation,
    hint: "Look at the real rows, then go back to a checkpoint, or roll the sandbox back and run its statements again.",
    cause: thrown.cause,
    data: {
      ...AS_BEFORE,
      failedPath: first?.path ?? null,
      reason: "rows",
      conflicts: thrown.conflicts.map(({ base, theirs, ours, ...conflict }) => ({
        ...conflict,
        base: contentState(base),
        theirs: contentState(theirs),
        ours: contentState(ours),
      })),
    },
  });
}

/** Whatever kept a commit from being prepared; the database is as before. */
export function asPrepareError(thrown: unknown): SandboxError {
  const told = asDatabaseError(thrown, "commit");
  if (told instanceof SandboxError) return told;
  return new SandboxCommitError(`The commit could not be prepared: ${describeThrown(told)}`, {
    operation: "commit",
    cause: told,
    hint: "The database is as before and the edits are kept: remove the cause and commit again.",
    data: { ...AS_BEFORE, reason: "prepare" },
  });
}

/** Whatever kept an undo from being prepared; the database stays as it was committed. */
export function asUndoError(thrown: unknown): SandboxError {
  if (thrown instanceof DriftError) {
    const paths = thrown.conflicts.map(({ path }) => path);
    return undoRefused(
      "foreignEdits",
      `Rows were changed after the commit: ${namesOf(thrown.conflicts)}; nothing was undone`,
      paths,
    );
  }
  if (thrown instanceof SandboxError) return thrown;
  return undoRefused("io", `The undo could not be prepared: ${describeThrown(thrown)}`, [], thrown);
}

/** Refuses an undo; nothing was changed. */
export function undoRefused(
  reason: SandboxRollbackError["data"]["reason"],
  message: string,
  paths: readonly string[] = [],
  cause?: unknown,
): SandboxRollbackError {
  return new SandboxRollbackError(message, {
    operation: "rollback",
    hint: "The database stays as it was committed.",
    ...(cause !== undefined && { cause }),
    data: { reason, originalRestored: false, undoDataAt: null, asideAt: null, paths },
  });
}

/** Nobody can tell now whether the commit happened; the server knows. */
export function outcomeUnknown(cause: unknown): SandboxCommitError {
  return new SandboxCommitError(
    `It is not known whether the commit happened: ${describeThrown(cause)}`,
    {
      operation: "commit",
      cause,
      hint: "Make the server reachable, then run recover: it looks the outcome up.",
      data: { ...AS_BEFORE, originalRestored: false, reason: "unknown" },
    },
  );
}

/** Somebody else has settled the prepared transaction: nothing was published, or it cannot be told. */
export function settledByOthers(name: string, originalRestored: boolean): SandboxCommitError {
  return new SandboxCommitError(`The prepared transaction ${name} was settled by somebody else`, {
    operation: "commit",
    hint: "Look at the rows of the database: nobody else may settle transactions that begin with coffer1.",
    data: { ...AS_BEFORE, originalRestored, reason: "heuristic" },
  });
}

function namesOf(conflicts: readonly RowConflict[]): string {
  const names = conflicts.slice(0, 3).map(({ path }) => path);
  const more = conflicts.length > 3 ? ` and ${conflicts.length - 3} more` : "";
  return `${names.join(", ")}${more}`;
}
