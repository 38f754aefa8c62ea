import { type Conflict, SandboxConflictError } from "cofferdam";
import { inParallel } from "./in-parallel.ts";
import { type Edit, type ObjectVersion, stateOf } from "./object-state.ts";
import type { OpenSandbox } from "./open-sandbox.ts";

/** An edit of a key that somebody else has changed since. */
export interface Clash {
  readonly key: string;
  readonly edit: Edit;
  readonly theirs: ObjectVersion | null;
}

/** Looks at every edited key whether its version is still the one that the edit began with. */
export async function findClashes(
  { bucket }: OpenSandbox,
  edits: readonly (readonly [string, Edit])[],
): Promise<Clash[]> {
  const found = await inParallel(edits, async ([key, edit]) => ({
    key,
    edit,
    theirs: await bucket.head(key),
  }));
  return found.filter(({ edit, theirs }) => edit.base?.versionId !== theirs?.versionId);
}

/** @throws SandboxConflictError (`SANDBOX_CONFLICT`) when somebody else changed what the edits change. */
export async function refuseClashes(
  sandbox: OpenSandbox,
  edits: readonly (readonly [string, Edit])[],
): Promise<void> {
  const clashes = await findClashes(sandbox, edits);
  if (clashes.length > 0) throw conflictError(sandbox, clashes);
}

/** The error for edits that cannot be published, or not be merged, as nothing here can. */
export function conflictError(
  { location, ref }: OpenSandbox,
  clashes: readonly Clash[],
  operation: "commit" | "merge" = "commit",
): SandboxConflictError {
  const isMerge = operation === "merge";
  const conflicts = clashes.map(({ key, edit: { base, mine }, theirs }): Conflict => ({
    path: location.pathOf(key),
    reason: isMerge ? "noAncestor" : reasonOf(base, theirs),
    base: base && stateOf(base),
    theirs: theirs && stateOf(theirs),
    ours: mine && stateOf(mine),
  }));
  const paths = conflicts.map(({ path }) => path);
  const who = isMerge ? "Objects are not merged, and somebody else" : "Somebody else";
  return new SandboxConflictError(`${who} changed ${paths.join(", ")} in ${location}`, {
    data: {
      originalRestored: true,
      undoDataAt: null,
      failedPath: paths[0] ?? null,
      appliedCount: 0,
      conflicts,
      ...(isMerge && { reason: "notMerged" }),
    },
    operation: isMerge ? "resolve" : "commit",
    hint: `Settle each: coffer resolve ${ref.planId} PATH --mine or --theirs.`,
  });
}

function reasonOf(base: ObjectVersion | null, theirs: ObjectVersion | null): Conflict["reason"] {
  if (base === null) return "exists";
  return theirs === null ? "missing" : "changed";
}
