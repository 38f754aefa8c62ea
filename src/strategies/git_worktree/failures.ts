import {
  SandboxCommitError,
  SandboxConflictError,
  SandboxPathError,
  SandboxRollbackError,
} from "../../errors/index.ts";
import { type RelativePath, displayPath } from "../../model/byte-path.ts";
import type { ConflictReason } from "../../model/conflict.ts";
import { publicPath } from "../../tree/public-path.ts";
import type { OpenPlace } from "../../tree/workspace.ts";
import { type Rename, areRenamedTwice } from "./renames.ts";

const MOST_NAMED = 3;
const UNTOUCHED = { originalRestored: true, undoDataAt: null, appliedCount: 0 };

/** A path of the user's checkout, or a side of a merge, that stands in the way. */
export interface PathConflict {
  readonly path: RelativePath;
  readonly reason: ConflictReason;
}

/** Refuses a commit, or an undo, over what somebody else did; nothing was done. */
export function conflictError(
  conflicts: readonly PathConflict[],
  operation: "commit" | "rollback" = "commit",
): SandboxConflictError {
  return new SandboxConflictError(...conflictText(conflicts, "checkout", { operation }));
}

/** Refuses a commit over what the branch got meanwhile, and knows what either side renamed. */
export class MergeConflictError extends SandboxConflictError {
  // Nobody outside has to know that there are two of them.
  override readonly name = "SandboxConflictError";
  readonly renames: readonly Rename[];
  /** The paths at which git has the conflict, by the path that it is told at. */
  readonly places: ReadonlyMap<RelativePath, readonly RelativePath[]>;

  constructor(
    conflicts: readonly PathConflict[],
    renames: readonly Rename[],
    places: ReadonlyMap<RelativePath, readonly RelativePath[]>,
  ) {
    super(...conflictText(conflicts, "merge", { renames }));
    this.renames = renames;
    this.places = places;
  }
}

function conflictText(
  conflicts: readonly PathConflict[],
  what: "merge" | "checkout",
  {
    renames = [],
    operation = "commit",
  }: { readonly renames?: readonly Rename[]; readonly operation?: "commit" | "rollback" },
): ConstructorParameters<typeof SandboxConflictError> {
  const names = conflicts.map(({ path }) => displayPath(path));
  const messages = {
    merge: describeMerge(conflicts, renames),
    checkout: "Edits in the checkout stand in the way",
    locked: "Another git is at work in the repository",
  };
  const hints = {
    merge:
      'Merge the branch in the worktree (getPath) and resolve what conflicts there, or resolve(paths, "mine" | "theirs"), then commit again.',
    checkout: "Commit, stash or move these edits away, then commit again.",
    locked: `${operation === "commit" ? "Commit" : "Roll back"} again when it has ended; if none runs any more, remove its lock first.`,
  };
  const told = conflicts.every(({ reason }) => reason === "locked") ? "locked" : what;
  const data = {
    ...UNTOUCHED,
    failedPath: names[0] ?? null,
    reason: what,
    conflicts: conflicts.map(({ path, reason }) => ({
      ...publicPath(path),
      reason,
      base: null,
      theirs: null,
      ours: null,
    })),
  };
  const end = operation === "commit" ? "published" : "taken back";
  const message = `${messages[told]}: ${fewOf(names)}; nothing was ${end}`;
  return [message, { operation, hint: hints[told], data }];
}

/** What the branch did that cannot be merged with the sandbox. */
export function describeMerge(
  conflicts: readonly { readonly path: RelativePath; readonly reason: string }[],
  renames: readonly Rename[],
): string {
  const paths = conflicts.map(({ path }) => path);
  if (areRenamedTwice(paths, renames)) return "The branch renamed what the sandbox renamed";
  const [reason, another] = new Set(conflicts.map((conflict) => conflict.reason));
  if (another !== undefined) return "The branch changed the same files";
  if (reason === "missing") return "The branch deleted what the sandbox changed";
  if (reason === "changed") return "The branch changed what the sandbox deleted";
  return "The branch changed the same lines";
}

/** A few names for a message, and how many there are besides. */
export function fewOf(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Says that somebody has removed the worktree of a sandbox. */
export function worktreeGone(worktree: string): SandboxPathError {
  const message = `The worktree of the sandbox is gone, with every edit that was not committed: ${worktree}`;
  return new SandboxPathError(message, {
    data: { path: worktree, reason: "missing" },
    hint: "Clean the plan up by force (`coffer clean PLAN --force`), which removes what is left of it, and make a new one.",
  });
}

/** Says that a repository is not where it was; the edits are still in the worktree. */
export function repositoryGone(repository: string, worktree: string): SandboxPathError {
  return new SandboxPathError(`The repository is not there any more: ${repository}`, {
    data: { path: repository, reason: "missing" },
    hint: `Move it back to its place, then try again. The edits are still in ${worktree}.`,
  });
}

/** Refuses a commit, or a checkpoint, for a reason that is no path; nothing was published. */
export function refuseCommit(
  reason: string,
  message: string,
  details: {
    /** What was tried; a commit unless told. */
    readonly operation?: "commit" | "checkpoint";
    readonly hint?: string;
    readonly cause?: unknown;
    readonly path?: RelativePath;
    readonly paths?: readonly string[];
  } = {},
): SandboxCommitError {
  const { operation = "commit" } = details;
  const rest = operation === "commit" ? "nothing was published" : "nothing was changed";
  return new SandboxCommitError(`${message}; ${rest}`, {
    operation,
    hint: details.hint,
    data: {
      ...UNTOUCHED,
      failedPath: details.path === undefined ? null : displayPath(details.path),
      reason,
      ...(details.paths !== undefined && { paths: details.paths }),
    },
    ...(details.cause !== undefined && { cause: details.cause }),
  });
}

/** Refuses a message without a word in it, as git does. */
export function requireMessage(message: string | undefined): void {
  if (message === undefined || message.trim() !== "") return;
  throw refuseCommit("message", "The message of the commit is empty", {
    hint: "Say what the commit does, or give no message at all to have one made.",
  });
}

/** Refuses an undo because somebody moved what it would take back; nothing was changed. */
export function refuseUndo(
  place: OpenPlace,
  message: string,
  { paths, hint }: { readonly paths: readonly string[]; readonly hint?: string },
): SandboxRollbackError {
  return new SandboxRollbackError(`${message}; nothing was undone`, {
    operation: "rollback",
    sandboxId: place.ref.sandboxId,
    hint: hint ?? "Take that back first, or revert the commit with git.",
    data: {
      reason: "foreignEdits",
      originalRestored: false,
      undoDataAt: null,
      asideAt: null,
      paths,
    },
  });
}
