import { capabilitiesOf } from "../contract/capabilities-of.ts";
import type { CallOptions } from "../contract/strategy.ts";
import { SandboxError, SandboxRollbackError, describeThrown } from "../errors/index.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import { transactionOf } from "./commit-sandbox.ts";
import type { Guarded } from "./engine.ts";
import { asRollbackError, rollbackError, unsettledUndo } from "./failures.ts";
import { holdSignals } from "./hold-signals.ts";
import { moveIfPossible, moveRecord, updateRecord } from "./record-moves.ts";
import { recoverTransaction } from "./recover-transaction.ts";
import { inContext, withSandbox } from "./with-sandbox.ts";

/** What a commit leaves behind that an undo takes away. */
const UNDONE = { inFlight: null, lastTransaction: null, lastResult: null } as const;

/**
 * Discards the edits of a sandbox; from COMMITTED it first makes the resource as it was before the commit. Both parts
 * are judged apart: when only the workspace could not be reset, the sandbox is rolled back and its workspace stale.
 */
export function rollbackSandbox(
  guarded: Guarded,
  ref: SandboxRef,
  options: CallOptions = {},
): Promise<void> {
  const call = {
    ref,
    operation: "rollback",
    access: "change",
    options,
    failure: asRollbackError,
  } as const;
  return withSandbox(guarded, { ...call, asItIs: true }, async (record) => {
    using _hold = holdSignals();
    if (record.status !== "COMMITTED") return await discard(guarded, record, options);
    if (record.lastResult?.noop === true) return await undoNothing(guarded, record, "ROLLED_BACK");
    const undone = await undo(guarded, record, "rollback", options);
    await resetWorkspace(guarded, undone, options);
  });
}

/** Takes a commit back and keeps the edits: the sandbox is ACTIVE again. */
export function undoSandbox(
  guarded: Guarded,
  ref: SandboxRef,
  options: CallOptions = {},
): Promise<void> {
  const call = {
    ref,
    operation: "undoCommit",
    access: "change",
    options,
    failure: asRollbackError,
  } as const;
  return withSandbox(guarded, call, async (record) => {
    using _hold = holdSignals();
    if (record.lastResult?.noop === true) return await undoNothing(guarded, record, "ACTIVE");
    const undone = await undo(guarded, record, "undoCommit", options);
    await moveRecord(guarded.engine, undone, "ACTIVE", { ...UNDONE, lastError: null });
    tell(guarded, record, "sandbox.undone");
  });
}

/** Ends a rollback whose resource is as before the commit. A workspace that cannot be reset does not undo that. */
export async function resetWorkspace(
  guarded: Guarded,
  record: SandboxRecord,
  options: CallOptions = {},
): Promise<SandboxRecord> {
  const { engine, raw } = guarded;
  try {
    await raw.rollback(record.ref, options);
  } catch (thrown) {
    const error = inContext(asRollbackError(thrown), record.ref);
    const changes = { ...UNDONE, workspaceStale: true, lastError: error.toJSON() };
    const stale = await moveRecord(engine, record, "ROLLED_BACK", changes);
    tell(guarded, record, "sandbox.workspaceStale", describeThrown(thrown));
    return stale;
  }
  const changes = { ...UNDONE, workspaceStale: false, lastError: null };
  const moved = await moveRecord(engine, record, "ROLLED_BACK", changes);
  tell(guarded, record, "sandbox.rolledBack");
  return moved;
}

/** Throws the edits away; the resource is not touched. */
async function discard(
  guarded: Guarded,
  before: SandboxRecord,
  options: CallOptions,
): Promise<void> {
  const { engine, raw } = guarded;
  const record = await moveRecord(engine, before, "ROLLING_BACK", {
    inFlight: { operation: "rollback", from: before.status, transaction: null, undone: true },
  });
  try {
    await raw.rollback(record.ref, options);
  } catch (thrown) {
    const error = inContext(asRollbackError(thrown), record.ref);
    // An error of the family says that the workspace is as before; of anything else nothing is known.
    const isAsBefore = thrown instanceof SandboxError;
    const changes = { lastError: error.toJSON(), ...(isAsBefore && { inFlight: null }) };
    const isRefused =
      thrown instanceof SandboxRollbackError && thrown.data.reason === "notUndoable";
    const asBefore = isRefused ? before.status : "ACTIVE";
    await moveIfPossible(engine, record, isAsBefore ? asBefore : "ERRORED", changes);
    tell(guarded, record, "sandbox.rollbackFailed", describeThrown(thrown));
    throw error;
  }
  const changes = { inFlight: null, workspaceStale: false, lastError: null };
  await moveRecord(engine, record, "ROLLED_BACK", changes);
  tell(guarded, record, "sandbox.rolledBack");
}

/** An empty commit is taken back by saying so: workspace and mount stay as they are. */
export async function undoNothing(
  guarded: Guarded,
  record: SandboxRecord,
  status: "ROLLED_BACK" | "ACTIVE",
): Promise<void> {
  const changes = { ...UNDONE, lastError: null };
  await moveRecord(guarded.engine, record, ["ROLLING_BACK", status], changes);
  tell(guarded, record, status === "ACTIVE" ? "sandbox.undone" : "sandbox.rolledBack");
}

/** Makes the resource as before the commit; the fact is durable when the promise settles. */
async function undo(
  guarded: Guarded,
  before: SandboxRecord,
  operation: "rollback" | "undoCommit",
  options: CallOptions,
): Promise<SandboxRecord> {
  const { engine, raw, name } = guarded;
  const { undoCommit: isUndoable } = capabilitiesOf(raw, before.ref);
  if (!isUndoable || raw.undoCommit === undefined) {
    throw rollbackError("notUndoable", `The strategy ${name} cannot take a commit back`, {
      hint: "The resource stays as it was committed.",
    });
  }
  await settleLastCommit(guarded, before);
  const record = await moveRecord(engine, before, "ROLLING_BACK", {
    inFlight: { operation, from: before.status, transaction: engine.ids.next(), undone: false },
  });
  try {
    await raw.undoCommit(record.ref, options);
  } catch (thrown) {
    await settleFailedUndo(guarded, record, thrown);
  }
  await refusePending(guarded, record);
  return markUndone(guarded, record);
}

/** The resource is as before, but the edits are not back in the sandbox yet: nobody may work there before recovery. */
export async function refusePending(
  guarded: Guarded,
  record: SandboxRecord,
  isInPlace = true,
): Promise<void> {
  const { engine } = guarded;
  const transaction = transactionOf(record);
  if (transaction === null || !engine.log.isRunning(transaction)) return;
  const message = isInPlace
    ? "The commit is taken back, but the edits are not back in the sandbox"
    : "It is decided that the commit is taken back, but not all of it is in place";
  const error = inContext(
    rollbackError("io", message, {
      originalRestored: isInPlace,
      undoDataAt: engine.log.folderOf(transaction),
      hint: "Remove the cause and run recover.",
    }),
    record.ref,
  );
  await moveIfPossible(engine, record, "ERRORED", { lastError: error.toJSON() });
  tell(guarded, record, "sandbox.rollbackFailed", error.message);
  throw error;
}

/** Records that only the workspace is left to be reset. */
export function markUndone({ engine }: Guarded, record: SandboxRecord): Promise<SandboxRecord> {
  const { inFlight } = record;
  if (inFlight === null || inFlight.operation === "restoreCheckpoint")
    return Promise.resolve(record);
  return updateRecord(engine, record, { inFlight: { ...inFlight, undone: true } });
}

async function settleFailedUndo(
  guarded: Guarded,
  record: SandboxRecord,
  thrown: unknown,
): Promise<void> {
  const { engine, raw } = guarded;
  const transaction = transactionOf(record);
  const outcome = transaction === null ? null : engine.log.outcomeOf(transaction);
  // The strategy threw after its own transaction was decided and applied.
  if (outcome?.outcome === "committed") return;
  const isLeft = transaction !== null && engine.log.isRunning(transaction);
  const isSettled = capabilitiesOf(raw, record.ref).prepare
    ? transaction !== null && !isLeft
    : thrown instanceof SandboxRollbackError && thrown.data.reason !== "io";
  const told = asRollbackError(thrown);
  const left = isLeft ? unsettledUndo(told, engine.log.folderOf(transaction)) : told;
  const error = inContext(left, record.ref);
  const changes = { lastError: error.toJSON(), ...(isSettled && { inFlight: null }) };
  await moveIfPossible(engine, record, isSettled ? "COMMITTED" : "ERRORED", changes);
  tell(guarded, record, "sandbox.rollbackFailed", describeThrown(thrown));
  throw error;
}

/** A commit whose last steps are pending is finished before it is taken back. */
export async function settleLastCommit({ engine }: Guarded, record: SandboxRecord): Promise<void> {
  const { lastTransaction } = record;
  if (lastTransaction === null || !engine.log.isRunning(lastTransaction)) return;
  await recoverTransaction(engine, lastTransaction);
  if (!engine.log.isRunning(lastTransaction)) return;
  throw rollbackError("io", "The commit is not finished yet, so it cannot be taken back", {
    hint: "Run recover.",
  });
}

function tell({ engine }: Guarded, { ref }: SandboxRecord, name: string, reason?: string): void {
  const data = { planId: ref.planId, sandboxId: ref.sandboxId };
  if (reason === undefined) engine.emit(name, data);
  else engine.emit(name, { ...data, reason }, "warning");
}
