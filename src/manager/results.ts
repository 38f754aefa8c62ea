import type { CommitResult } from "../model/commit-result.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";

/** The result of a commit that had nothing to do. */
export function emptyResult(ref: SandboxRef, message: string | null, at: string): CommitResult {
  return {
    success: true,
    sandboxId: ref.sandboxId,
    strategyName: ref.strategyName,
    changed: [],
    added: [],
    deleted: [],
    noop: true,
    message,
    revision: null,
    committedAt: at,
    undoable: { possible: true, by: "nothing was applied" },
    warnings: [],
    metadata: {},
  };
}

/** A strategy's result with everything in it that callers rely on, whatever a foreign strategy left out. */
export function completeResult(
  given: Partial<CommitResult> | null | undefined,
  ref: SandboxRef,
  facts: { readonly message: string | null; readonly at: string; readonly undoable: boolean },
): CommitResult {
  const told = asJson(given);
  const warnings = told === null ? ["The strategy did not tell what it committed."] : [];
  const undoable = { possible: facts.undoable, by: facts.undoable ? "the strategy" : "nothing" };
  return {
    ...emptyResult(ref, facts.message, facts.at),
    noop: false,
    undoable,
    warnings,
    ...told,
    success: true,
    sandboxId: ref.sandboxId,
    strategyName: ref.strategyName,
  };
}

function asJson(given: unknown): Partial<CommitResult> | null {
  if (typeof given !== "object" || given === null) return null;
  try {
    return JSON.parse(JSON.stringify(given)) as Partial<CommitResult>;
  } catch {
    // A result that is no JSON says nothing that could be kept.
    return null;
  }
}
