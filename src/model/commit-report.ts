import type { CommitResult } from "./commit-result.ts";
import type { SandboxStatus } from "./status.ts";

/**
 * How a commit of several sandboxes ended.
 *
 * - `committed`: every resource is in the new state.
 * - `committed-pending`: decided; something is still to be finished, which `recover` does. Never a failure.
 * - `aborted`: every resource is as before, the edits are kept.
 * - `refused`: nothing was tried.
 * - `in-doubt`: something could be neither finished nor taken back; `recover` settles it.
 * - `partial`: only under best effort: some resources are committed, others are not.
 */
export type PlanOutcome =
  "committed" | "committed-pending" | "aborted" | "refused" | "in-doubt" | "partial";

/** Whether all or nothing was promised. */
export type PlanAtomicity = "atomic" | "bestEffort";

/** A resource that could not be brought back. */
export interface FailedRollback {
  readonly reason: string;
  /** Where what is needed to bring it back is kept. */
  readonly undoDataAt: string | null;
}

/** What a commit of several sandboxes did. All ids are resource ids, which are unique within a plan. */
export interface CommitReport {
  readonly planId: string;
  /** Id of the transaction; null when none was needed. */
  readonly transaction: string | null;
  readonly outcome: PlanOutcome;
  readonly atomicity: PlanAtomicity;
  /** In the order in which they were committed. */
  readonly order: readonly string[];
  readonly results: Readonly<Record<string, CommitResult>>;
  /** The first that failed; in a `committed-pending` one the first that is still to be finished. */
  readonly failedId: string | null;
  /** Why it failed, in words; the thrown value itself is the error's `cause`. */
  readonly cause: string | null;
  /** Were committed, and are checked to be as before again. */
  readonly rolledBack: readonly string[];
  readonly rollbackFailed: Readonly<Record<string, FailedRollback>>;
  /** Had nothing to be taken back. */
  readonly rollbackNoop: readonly string[];
  readonly notAttempted: readonly string[];
  readonly skipped: Readonly<Record<string, SandboxStatus>>;
  /** Their workspaces must be rebuilt before anybody sees them again. */
  readonly workspaceStale: readonly string[];
}
