import {
  SandboxCommitError,
  SandboxConflictError,
  SandboxRollbackError,
} from "../../errors/index.ts";
import { type BytePath, displayPath } from "../../model/byte-path.ts";
import type { TreeConflict } from "../conflicts.ts";
import type { Shelved, StepFailure } from "../publish/index.ts";
import { publicPath } from "../public-path.ts";
import { entryState } from "../view/entry-state.ts";
import type { OpenPlace } from "../workspace.ts";

/** Steps that stopped half way: the real tree is a mixture until they are finished or taken back. */
export function stepFailure(
  failure: StepFailure,
  applied: number,
  stage: BytePath,
): SandboxCommitError {
  const { path, message, code } = failure;
  const cause = Object.assign(new Error(message), { code });
  return new SandboxCommitError(
    `Publishing stopped${path === null ? "" : ` at ${displayPath(path)}`}: ${message}`,
    {
      operation: "commit",
      cause,
      data: {
        originalRestored: false,
        undoDataAt: displayPath(stage),
        failedPath: path === null ? null : displayPath(path),
        appliedCount: applied,
      },
    },
  );
}

/** A version that somebody else put there between the check and the publishing. */
export function describeShelved({ path, keptAt }: Shelved): string {
  const where = keptAt === null ? "stays in place" : `is kept at ${displayPath(keptAt)}`;
  return `${displayPath(path)} was changed by somebody else at the last moment; their version ${where}`;
}

/** A conflict in the form that an error carries. */
export function describeConflict({ change, reason, real }: TreeConflict): ConflictDetails[number] {
  return {
    ...publicPath(change.path),
    reason,
    base: change.before && entryState(change.before, null),
    theirs: real && entryState(real, null),
    ours: change.after && entryState(change.after, null),
  };
}

type ConflictDetails = SandboxConflictError["data"]["conflicts"];

/** Refuses a commit over what somebody else changed. */
export function conflictError(conflicts: ConflictDetails): SandboxConflictError {
  const names = conflicts.slice(0, 3).map(({ path }) => path || ".");
  const more = conflicts.length > 3 ? ` and ${conflicts.length - 3} more` : "";
  return new SandboxConflictError(
    `Changed by somebody else since the sandbox was made: ${names.join(", ")}${more}; nothing was published`,
    {
      operation: "commit",
      hint: "Look at the real files, then take your own changes back for these paths, or commit with { merge: true }.",
      data: {
        originalRestored: true,
        undoDataAt: null,
        failedPath: conflicts[0]!.path,
        appliedCount: 0,
        conflicts,
      },
    },
  );
}

/** Refuses an undo; nothing was changed. */
export function rollbackError(
  reason: "undoDataMissing" | "foreignEdits",
  place: OpenPlace,
  paths: readonly string[],
  stage?: BytePath,
): SandboxRollbackError {
  const messages = {
    undoDataMissing:
      "The data for taking this commit back is missing or damaged; nothing was changed",
    foreignEdits: `Somebody else changed these paths after the commit: ${paths.join(", ")}; nothing was undone`,
  };
  return new SandboxRollbackError(messages[reason], {
    operation: "rollback",
    sandboxId: place.ref.sandboxId,
    hint:
      reason === "foreignEdits"
        ? "Move these edits away, or undo the other paths by hand from the kept files."
        : "The real resource stays as it was committed.",
    data: {
      reason,
      originalRestored: false,
      undoDataAt: stage === undefined ? null : displayPath(stage),
      asideAt: null,
      paths,
    },
  });
}

/** Wraps what staging or applying threw, so that the caller learns whether the real tree is as before. */
export function commitFailure(cause: unknown, failedPath: string | null): SandboxCommitError {
  return new SandboxCommitError("The commit failed before anything was published", {
    operation: "commit",
    cause,
    data: { originalRestored: true, undoDataAt: null, failedPath, appliedCount: 0 },
  });
}

/** Refuses a commit of something other than what was reviewed. */
export function notAsReviewed(): SandboxCommitError {
  return new SandboxCommitError(
    "The sandbox changed after it was reviewed; nothing was published",
    {
      operation: "commit",
      hint: "Look at the diff again and commit with its digest.",
      data: {
        originalRestored: true,
        undoDataAt: null,
        failedPath: null,
        appliedCount: 0,
        reason: "digest",
      },
    },
  );
}
