import {
  DatabaseError,
  SandboxCommitError,
  SandboxConflictError,
  SandboxError,
  SandboxRollbackError,
  describeThrown,
} from "../../errors/index.ts";
import { type DatabaseEngine, DriftError, type RowConflict } from "./engine.ts";
import { contentState } from "./row-changes.ts";

const AS_BEFORE = {
  originalRestored: true,
  undoDataAt: null,
  failedPath: null,
  appliedCount: 0,
} as const;

const MOST_NAMED = 3;
const AS_COMMITTED = "The database stays as it was committed.";

/** What a call on the log threw as an error of the family: a database that is not as the log found it is a conflict. */
export function asDatabaseError(thrown: unknown, operation: string): unknown {
  if (!(thrown instanceof DriftError)) return thrown;
  const [first] = thrown.conflicts;
  return new SandboxConflictError(`${toldOf(thrown)}; ${endOf(thrown, operation)}`, {
    operation,
    hint: isLocked(thrown)
      ? "Try again when the other program is done; the edits are kept."
      : "Look at the real rows, then go back to a checkpoint, or roll the sandbox back and run its statements again.",
    cause: thrown.cause,
    data: {
      ...AS_BEFORE,
      failedPath: first?.path ?? null,
      reason: "rows",
      conflicts: thrown.conflicts.map(({ base, theirs, ours, ...conflict }) => ({
        ...conflict,
        base: contentState(base),
        theirs: contentState(theirs),
        ours: contentState(ours),
      })),
    },
  });
}

/** Whatever kept a commit from being prepared; the database is as before. */
export function asPrepareError(thrown: unknown): SandboxError {
  const told = asDatabaseError(thrown, "commit");
  if (told instanceof SandboxError) return told;
  return new SandboxCommitError(`The commit could not be prepared: ${describeThrown(told)}`, {
    operation: "commit",
    cause: told,
    hint: "The database is as before and the edits are kept: remove the cause and commit again.",
    data: { ...AS_BEFORE, reason: "prepare" },
  });
}

/** Whatever kept an undo from being prepared; the database stays as it was committed. */
export function asUndoError(thrown: unknown, engine: Pick<DatabaseEngine, "isLost">): SandboxError {
  if (thrown instanceof DriftError) {
    const paths = [...new Set(thrown.conflicts.map(({ path }) => path))];
    const why = isLocked(thrown)
      ? "Try again when the other program is done."
      : "Somebody wrote after the commit, or a trigger or a foreign key has its own way with these rows: make the opposite edits in a new plan.";
    return undoRefused("foreignEdits", `${toldOf(thrown)}; nothing was undone`, {
      paths,
      cause: thrown.cause,
      hint: `${AS_COMMITTED} ${why}`,
    });
  }
  if (thrown instanceof SandboxError) return thrown;
  if (engine.isLost?.(thrown) === true) {
    return new DatabaseError(`The connection was lost in an undo: ${describeThrown(thrown)}`, {
      data: { reason: "unreachable", position: null, command: null, sqlState: null },
      operation: "rollback",
      hint: `${AS_COMMITTED} Try again when the server can be reached.`,
      cause: thrown,
    });
  }
  return undoRefused("notUndoable", `The undo could not be prepared: ${describeThrown(thrown)}`, {
    cause: thrown,
  });
}

/** As `asUndoError`, where the server has proven that nothing was undone: then whatever it was is a refusal. */
export function asSettledUndoError(
  thrown: unknown,
  engine: Pick<DatabaseEngine, "isLost">,
): SandboxRollbackError {
  const error = asUndoError(thrown, engine);
  if (error instanceof SandboxRollbackError) return error;
  const hint = error.hint ?? "Remove the cause and try again.";
  return undoRefused("notUndoable", `The undo could not be prepared: ${error.message}`, {
    cause: error,
    hint: hint.startsWith(AS_COMMITTED) ? hint : `${AS_COMMITTED} ${hint}`,
  });
}

/** Refuses an undo; nothing was changed. */
export function undoRefused(
  reason: SandboxRollbackError["data"]["reason"],
  message: string,
  details: {
    readonly paths?: readonly string[];
    readonly cause?: unknown;
    readonly hint?: string;
  } = {},
): SandboxRollbackError {
  const { paths = [], cause, hint = AS_COMMITTED } = details;
  return new SandboxRollbackError(message, {
    operation: "rollback",
    hint,
    ...(cause !== undefined && { cause }),
    data: { reason, originalRestored: false, undoDataAt: null, asideAt: null, paths },
  });
}

/** Nobody can tell now whether the commit happened; the server knows. */
export function outcomeUnknown(cause: unknown): SandboxCommitError {
  return new SandboxCommitError(
    `It is not known whether the commit happened: ${describeThrown(cause)}`,
    {
      operation: "commit",
      cause,
      hint: "Make the server reachable, then run recover: it looks the outcome up.",
      data: { ...AS_BEFORE, originalRestored: false, reason: "unknown" },
    },
  );
}

/** Somebody else has settled the prepared transaction: nothing was published, or it cannot be told. */
export function settledByOthers(name: string, originalRestored: boolean): SandboxCommitError {
  return new SandboxCommitError(`The prepared transaction ${name} was settled by somebody else`, {
    operation: "commit",
    hint: "Look at the rows of the database: nobody else may settle transactions that begin with coffer1.",
    data: { ...AS_BEFORE, originalRestored, reason: "heuristic" },
  });
}

/** Whether nobody is known to have changed anything: somebody only holds it. */
function isLocked({ conflicts }: DriftError): boolean {
  return conflicts.length > 0 && conflicts.every(({ reason }) => reason === "locked");
}

/** What is in the way, and where. */
function toldOf(drift: DriftError): string {
  const { message, conflicts } = drift;
  return isLocked(drift)
    ? `Rows are locked by another program: ${heldIn(conflicts)}`
    : `${message}: ${namesOf(conflicts)}`;
}

/** What did not happen because of it. */
function endOf(drift: DriftError, operation: string): string {
  if (operation === "commit") return "nothing was published";
  if (!isLocked(drift)) return "the sandbox cannot be shown on top of them";
  return operation === "write"
    ? "nothing of the script was kept"
    : "the sandbox cannot be shown now";
}

/** Of many rows that were wanted at once nobody knows which are held: then the tables are told. */
function heldIn(conflicts: readonly RowConflict[]): string {
  if (conflicts.length <= MOST_NAMED) return namesOf(conflicts);
  const tables = conflicts.map(({ path }) => path.split("/", 1)[0] ?? "");
  return `some of ${conflicts.length} in ${[...new Set(tables)].join(", ")}`;
}

function namesOf(conflicts: readonly RowConflict[]): string {
  const paths = [...new Set(conflicts.map(({ path }) => path))];
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : "";
  return `${paths.slice(0, MOST_NAMED).join(", ")}${more}`;
}
