import type { CommitReport } from "../model/commit-report.ts";
import { SandboxError } from "./sandbox-error.ts";

/** Several sandboxes could not be committed together; carries the whole report. */
export class AtomicCommitError extends SandboxError<{ readonly report: CommitReport }> {
  readonly code = "ATOMIC_COMMIT";
}

/** All or nothing cannot be promised for this set of sandboxes; nothing was tried. */
export class AtomicityRefusedError extends SandboxError<{
  readonly blockers: readonly { readonly sandboxId: string; readonly why: string }[];
}> {
  readonly code = "ATOMICITY_REFUSED";
}
