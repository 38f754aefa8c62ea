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

/** Refuses a commit over what somebody else changed, or a merge with it. */
export function conflictError(
  conflicts: ConflictDetails,
  operation: "commit" | "resolve" = "commit",
): SandboxConflictError {
  const names = conflicts.slice(0, 3).map(({ path }) => path || ".");
  const more = conflicts.length > 3 ? ` and ${conflicts.length - 3} more` : "";
  const paths = `${names.join(", ")}${more}`;
  const isCommit = operation === "commit";
  return new SandboxConflictError(
    isCommit
      ? `Changed by somebody else since the sandbox was made: ${paths}; nothing was published`
      : `Both sides cannot be merged, because ${whyNot(conflicts)}: ${paths}; nothing was changed`,
    {
      operation,
      hint: isCommit
        ? 'Look at the real files, then resolve(paths, "mine" | "theirs" | "merge"), or commit with { merge: true }.'
        : 'Edit the sandbox\'s version until it has what you want of both, then resolve(paths, "mine").',
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

function whyNot(conflicts: ConflictDetails): string {
  const reasons = new Set(conflicts.map(({ reason }) => reason));
  if (reasons.has("noAncestor")) return "the version that both began with is not known for sure";
  return reasons.has("overlap")
    ? "they changed the same lines or attributes, or are no text"
    : "one of them has no file there";
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
        ? "An undo takes back all of a commit or nothing, and never over later edits: make the opposite edits in a new plan."
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
