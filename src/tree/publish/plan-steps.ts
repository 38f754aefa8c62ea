import { SandboxCommitError, SandboxPathError, PathEscapeError } from "../../errors/index.ts";
import {
  type BytePath,
  type RelativePath,
  ROOT,
  displayPath,
  isWithin,
} from "../../model/byte-path.ts";
import { compareText } from "../../model/compare-text.ts";
import type { TreeChange } from "../tree-change.ts";

/** One path, with everything below it, that will be published or taken away by one rename. */
export interface StepDraft {
  readonly path: RelativePath;
  /** The change at the path itself. */
  readonly change: TreeChange;
  /** New entries to be staged, the path itself first, parents before their content. */
  readonly staged: TreeChange[];
  /** Old entries below the path. */
  readonly below: TreeChange[];
}

/** The changes of one resource, sorted into what is renamed and what is changed in place. */
export interface StepPlan {
  readonly drafts: readonly StepDraft[];
  /** Directories that exist before and after. */
  readonly folders: ReadonlyMap<RelativePath, TreeChange>;
}

/** Bounds of what may change. */
export interface PlanLimits {
  readonly root: BytePath;
  /** The only name that may change, for single-file resources. */
  readonly only: BytePath | null;
  /** Paths below the root that stay as they are, whatever happens around them. */
  readonly exclude: readonly RelativePath[];
}

/**
 * Sorts changes into renames of whole subtrees and changes in place. Touches nothing.
 * @throws PathEscapeError for a path outside the limits, SandboxPathError for a special file that would be published,
 *   SandboxCommitError for changes that contradict each other.
 */
export function planSteps(changes: readonly TreeChange[], limits: PlanLimits): StepPlan {
  const folders = new Map<RelativePath, TreeChange>();
  const drafts: StepDraft[] = [];
  let open: StepDraft | null = null;
  for (const change of bySubtree(changes)) {
    const { path, before, after } = change;
    check(change, limits);
    if (open !== null && isWithin(path, open.path)) {
      absorb(open, change);
      continue;
    }
    open = null;
    if (before === null && after === null) continue;
    if (before?.type === "directory" && after?.type === "directory") {
      folders.set(path, change);
    } else if (before?.type === "directory" && holdsExcluded(path, limits)) {
      // The folder has to stay for the sake of what is excluded in it; the rest of it goes piece by piece.
      if (after !== null) throw contradiction(change, "it holds an excluded path");
    } else {
      if (path === ROOT) throw contradiction(change, "the root itself cannot be replaced");
      const draft = { path, change, staged: after === null ? [] : [change], below: [] };
      drafts.push(draft);
      if (before?.type === "directory" || after?.type === "directory") open = draft;
    }
  }
  return { drafts, folders };
}

/** Sorted so that everything below a path follows it at once: `a`, `a/b`, `a-c`. */
function bySubtree(changes: readonly TreeChange[]): TreeChange[] {
  return changes
    .map((change) => ({ change, key: change.path.replaceAll("/", "\0") }))
    .sort((a, b) => compareText(a.key, b.key))
    .map(({ change }) => change);
}

function absorb(draft: StepDraft, change: TreeChange): void {
  const { before, after } = draft.change;
  if (change.before !== null) {
    if (before?.type !== "directory") throw contradiction(change, "its folder did not exist");
    draft.below.push(change);
  }
  if (change.after !== null) {
    if (after?.type !== "directory") throw contradiction(change, "its folder does not exist");
    draft.staged.push(change);
  }
}

function check(change: TreeChange, { root, only, exclude }: PlanLimits): void {
  const { path, after } = change;
  const parts = path.split("/");
  const isOdd = path !== ROOT && parts.some((part) => part === "" || part === "." || part === "..");
  const isOutside = only !== null && !isWithin(path, only);
  const isExcluded = exclude.some((excluded) => isWithin(path, excluded));
  if (isOdd || isOutside || isExcluded || path.includes("\0")) {
    throw new PathEscapeError(`${displayPath(path)} must not be changed here`, {
      data: { requested: displayPath(path), root: displayPath(root) },
    });
  }
  if (after?.type === "special") {
    throw new SandboxPathError(`${displayPath(path)} is a special file and cannot be published`, {
      data: { path: displayPath(path), reason: "special" },
    });
  }
}

function holdsExcluded(path: RelativePath, { exclude }: PlanLimits): boolean {
  return exclude.some((excluded) => isWithin(excluded, path));
}

function contradiction(change: TreeChange, why: string): SandboxCommitError {
  const path = displayPath(change.path);
  return new SandboxCommitError(`${path} cannot be published: ${why}`, {
    operation: "commit",
    data: {
      originalRestored: true,
      undoDataAt: null,
      failedPath: path,
      appliedCount: 0,
      reason: "contradiction",
    },
  });
}
