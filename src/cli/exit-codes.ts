/** How the command line ends. Numbers from 124 up are left to shells, `timeout` and signals. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  conflict: 3,
  refused: 4,
  aborted: 5,
  pending: 6,
  unknownPlan: 7,
  busy: 8,
} as const;

/** A number that the command line ends with; `run`, `exec` and `shell` also hand on that of their command. */
export type ExitCode = number;

/** What each number says, for the help, the manual and the docs. */
export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: "done",
  failed: "failed for a reason that has no number of its own",
  usage: "called wrongly",
  conflict: "somebody else changed the same thing: nothing was published",
  refused: "refused before anything was tried",
  aborted: "given up: every resource is as before, the edits are kept",
  pending: "decided but not finished, or in doubt: `coffer recover` settles it",
  unknownPlan: "there is no such plan",
  busy: "somebody else is at work on the plan or resource",
};

/** As much of an error as its exit code depends on: the JSON shape of the library's errors. */
interface CodedError {
  readonly code: string | null;
  readonly operation?: unknown;
  readonly data?: unknown;
  readonly cause?: unknown;
}

const BY_CODE: Readonly<Record<string, ExitCode>> = {
  SANDBOX_CONFLICT: EXIT.conflict,
  ATOMICITY_REFUSED: EXIT.refused,
  UNSUPPORTED_STRATEGY: EXIT.refused,
  PLAN_BUSY: EXIT.busy,
  USAGE: EXIT.usage,
};

const BY_OUTCOME: Readonly<Record<string, ExitCode>> = {
  committed: EXIT.done,
  "committed-pending": EXIT.pending,
  aborted: EXIT.aborted,
  refused: EXIT.refused,
  "in-doubt": EXIT.pending,
  partial: EXIT.failed,
};

/** Reasons inside of errors that say more than their code. */
const BY_REASON: Readonly<Record<string, Readonly<Record<string, ExitCode>>>> = {
  SANDBOX_STATE: { unknownPlan: EXIT.unknownPlan, status: EXIT.refused },
  SANDBOX_ROLLBACK: {
    foreignEdits: EXIT.conflict,
    notUndoable: EXIT.refused,
    undoDataMissing: EXIT.refused,
  },
  DATABASE: {
    endsTransaction: EXIT.refused,
    outsideTransaction: EXIT.refused,
    session: EXIT.refused,
    sideEffect: EXIT.refused,
    notCaptured: EXIT.refused,
  },
};

/** The exit code of a commit's outcome. */
export function exitCodeOfOutcome(outcome: string): ExitCode {
  return BY_OUTCOME[outcome] ?? EXIT.failed;
}

/** The exit code of an error, told from its JSON. */
export function exitCodeOf({ code, operation, data, cause }: CodedError): ExitCode {
  const facts = isRecord(data) ? data : {};
  const { reason, report, originalRestored } = facts;
  if (isRecord(report) && typeof report["outcome"] === "string") {
    return exitCodeOfReport(report["outcome"], cause);
  }
  // What a commit would refuse is not kept either; a commit has a report.
  if (code === "SANDBOX_COMMIT" && operation === "checkpoint") return EXIT.refused;
  const byReason = typeof reason === "string" ? BY_REASON[code ?? ""]?.[reason] : undefined;
  if (byReason !== undefined) return byReason;
  const byCode = BY_CODE[code ?? ""];
  if (byCode !== undefined) return byCode;
  return originalRestored === false ? EXIT.pending : EXIT.failed;
}

/** A conflict, a lock and a missing plan say more than that nothing was published. */
function exitCodeOfReport(outcome: string, cause: unknown): ExitCode {
  const byOutcome = exitCodeOfOutcome(outcome);
  if (byOutcome !== EXIT.aborted && byOutcome !== EXIT.refused) return byOutcome;
  const byCause = isCoded(cause) ? exitCodeOf(cause) : EXIT.failed;
  return byCause === EXIT.failed || byCause === EXIT.pending ? byOutcome : byCause;
}

function isCoded(value: unknown): value is CodedError {
  return isRecord(value) && typeof value["code"] === "string";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
