import type { CommitOptions } from "../contract/strategy.ts";
import { SandboxCommitError } from "../errors/index.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import type { Guarded } from "./engine.ts";

/**
 * Refuses a commit of something else than what was reviewed. A strategy with two phases compares the digest once more, with
 * the very changes that it prepares.
 */
export async function refuseUnreviewed(
  { raw }: Guarded,
  ref: SandboxRef,
  { expect, ...options }: CommitOptions,
): Promise<void> {
  if (expect === undefined) return;
  const { digest } = await raw.diff(ref, options);
  if (digest !== expect) throw unreviewed("sandbox");
}

/** The error of such a commit. */
export function unreviewed(what: "sandbox" | "plan"): SandboxCommitError {
  const message = `The ${what} changed after it was reviewed; nothing was published`;
  return new SandboxCommitError(message, {
    operation: "commit",
    hint: "Look at the diff again and commit with its digest.",
    data: {
      originalRestored: true,
      undoDataAt: null,
      failedPath: null,
      appliedCount: 0,
      reason: "digest",
    },
  });
}
