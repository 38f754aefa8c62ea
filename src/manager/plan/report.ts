import { AtomicCommitError, SandboxError, describeThrown } from "../../errors/index.ts";
import type {
  CommitReport,
  FailedRollback,
  PlanAtomicity,
  PlanOutcome,
} from "../../model/commit-report.ts";
import type { CommitResult } from "../../model/commit-result.ts";
import { undoDataOf } from "../failures.ts";
import type { MemberProgress } from "../transaction-members.ts";
import type { PlanMember } from "./plan-members.ts";

/** What a report is made of. */
export interface ReportParts {
  readonly planId: string;
  readonly transaction: string | null;
  readonly atomicity: PlanAtomicity;
  /** In the order of the commit. */
  readonly members: readonly PlanMember[];
  readonly skipped: readonly PlanMember[];
}

const HINTS: Readonly<Record<PlanOutcome, string>> = {
  committed: "",
  "committed-pending": "",
  aborted: "Every resource is as before and all edits are kept: remove the cause and commit again.",
  refused: "Nothing was tried. Remove what stands in the way and commit again.",
  "in-doubt": "Everything that is needed to settle it is kept. Remove the cause and run recover.",
  partial: "What is committed can be undone where the report says so.",
};

/** The report of a commit that happened. */
export function successReport(
  parts: ReportParts,
  outcome: "committed" | "committed-pending",
  results: ReadonlyMap<string, CommitResult>,
): CommitReport {
  return {
    ...emptyReport(parts, outcome),
    order: parts.members.map(({ resourceId }) => resourceId),
    results: Object.fromEntries(results),
  };
}

/** The report of a commit that failed, by how far it came; `keptAt` is where what is needed to settle it lies. */
export function failureReport(
  parts: ReportParts,
  outcome: PlanOutcome,
  thrown: unknown,
  progress: MemberProgress,
  keptAt: string | null = null,
): CommitReport {
  const idOf = (at: number): string => parts.members[at]!.resourceId;
  const touched = new Set([
    ...progress.applied,
    ...progress.undone,
    ...progress.undoFailed.keys(),
    ...progress.noop,
  ]);
  const failed = progress.failedAt === null ? null : idOf(progress.failedAt);
  const rollbackFailed = [...progress.undoFailed].map(([at, error]): [string, FailedRollback] => [
    idOf(at),
    { reason: describeThrown(error), undoDataAt: undoDataOf(error) ?? keptAt },
  ]);
  const untouched = parts.members
    .map(({ resourceId }, at) => [resourceId, at] as const)
    .filter(([id, at]) => !touched.has(at) && id !== failed);
  return {
    ...emptyReport(parts, outcome),
    order: progress.applied.map(idOf),
    failedId: failed,
    cause: describeThrown(thrown),
    rolledBack: progress.undone.filter((at) => !progress.noop.has(at)).map(idOf),
    rollbackNoop: [...progress.noop].map(idOf),
    rollbackFailed: Object.fromEntries(rollbackFailed),
    notAttempted: untouched.map(([id]) => id),
  };
}

/** The one error of a failed commit; its cause is what was thrown, untouched. */
export function atomicCommitError(report: CommitReport, cause: unknown): AtomicCommitError {
  const subject = report.failedId === null ? "The plan" : `${report.failedId} of the plan`;
  return new AtomicCommitError(`${subject} could not be committed: ${describeThrown(cause)}`, {
    data: { report },
    operation: "commit",
    planId: report.planId,
    hint: hintOf(report.outcome, cause),
    cause,
  });
}

/** What can be done is known best by whoever refused. */
function hintOf(outcome: PlanOutcome, cause: unknown): string {
  const own = cause instanceof SandboxError ? cause.hint : null;
  if (outcome === "refused" && own !== null) return `Nothing was tried. ${own}`;
  if (outcome !== "aborted" || own === null) return HINTS[outcome];
  return own.includes("as before")
    ? own
    : `Every resource is as before and all edits are kept. ${own}`;
}

function emptyReport(parts: ReportParts, outcome: PlanOutcome): CommitReport {
  const { planId, transaction, atomicity, members, skipped } = parts;
  return {
    planId,
    transaction,
    outcome,
    atomicity,
    order: [],
    results: {},
    failedId: null,
    cause: null,
    rolledBack: [],
    rollbackFailed: {},
    rollbackNoop: [],
    notAttempted: [],
    skipped: Object.fromEntries(
      skipped.map(({ resourceId, record }) => [resourceId, record.status]),
    ),
    workspaceStale: [...members, ...skipped]
      .filter(({ record }) => record.workspaceStale)
      .map(({ resourceId }) => resourceId),
  };
}
