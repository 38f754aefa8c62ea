import { capabilitiesOf } from "../contract/capabilities-of.ts";
import type { TransactionPart } from "../contract/strategy.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import { finish, resultIn, transactionOf } from "./commit-sandbox.ts";
import type { Guarded } from "./engine.ts";
import { findRecord } from "./known-record.ts";
import { moveRecord } from "./record-moves.ts";
import { recoverTransaction } from "./recover-transaction.ts";
import { repairWorkspace } from "./repair-workspace.ts";
import { markUndone, resetWorkspace } from "./rollback-sandbox.ts";
import { gidOf } from "./transaction.ts";

/** Whether work on this sandbox was interrupted. */
export function isInterrupted({ status, inFlight }: SandboxRecord): boolean {
  return (
    inFlight !== null || ["COMMITTING", "ROLLING_BACK", "PREPARED", "ERRORED"].includes(status)
  );
}

/**
 * Finishes interrupted work on one sandbox by what is on disk, and gives its record as it then is. The plan is locked by
 * the caller. A sandbox whose state cannot be proven stays, or becomes, ERRORED.
 * @throws whatever the strategy throws; everything stays for the next try.
 */
export async function settleSandbox(
  guarded: Guarded,
  record: SandboxRecord,
): Promise<SandboxRecord> {
  const { engine } = guarded;
  const { inFlight } = record;
  if (inFlight === null) return record;
  if (inFlight.operation === "restoreCheckpoint") return settleRestore(guarded, record);
  const { transaction } = inFlight;
  if (transaction !== null) {
    engine.log.discardDraft(transaction);
    if (engine.log.isRunning(transaction)) await recoverTransaction(engine, transaction);
    if (engine.log.isRunning(transaction)) return record;
  }
  if (inFlight.operation === "commit") return settleCommit(guarded, record);
  const isUndone = inFlight.undone || (await undoHappened(guarded, record));
  if (!isUndone)
    return moveRecord(engine, record, "COMMITTED", { inFlight: null, lastError: null });
  const undone = inFlight.undone ? record : await markUndone(guarded, record);
  if (inFlight.operation === "rollback") return resetWorkspace(guarded, undone);
  const taken = { inFlight: null, lastTransaction: null, lastResult: null, lastError: null };
  return moveRecord(engine, undone, "ACTIVE", taken);
}

async function settleRestore(guarded: Guarded, record: SandboxRecord): Promise<SandboxRecord> {
  const repaired = await repairWorkspace(guarded, record);
  if (repaired.status !== "ERRORED") return repaired;
  return moveRecord(guarded.engine, repaired, "ACTIVE", { lastError: null });
}

async function settleCommit(guarded: Guarded, record: SandboxRecord): Promise<SandboxRecord> {
  const { engine, raw } = guarded;
  const { prepare, outcome, undoCommit } = capabilitiesOf(raw, record.ref);
  const backToEdits = { inFlight: null, lastError: null };
  const told = prepare || isTogether(record) ? transactionOutcome(guarded, record) : null;
  const answer =
    told ?? (outcome ? await raw.outcome?.(record.ref, partOf(guarded, record)) : "unknown");
  if (answer === "committed") {
    const done = doneOf(guarded, record);
    await finish(guarded, record, resultIn(done, record.ref), done?.message);
    return findRecord(engine, record.ref) ?? record;
  }
  if (answer === "aborted") return moveRecord(engine, record, "ACTIVE", backToEdits);
  if (undoCommit && raw.undoCommit !== undefined) {
    await raw.undoCommit(record.ref);
    return moveRecord(engine, record, "ACTIVE", backToEdits);
  }
  return record.status === "ERRORED" ? record : moveRecord(engine, record, "ERRORED");
}

/** Whether a transaction over several sandboxes has settled this one as well, whatever its strategy can do. */
function isTogether({ inFlight }: SandboxRecord): boolean {
  return inFlight !== null && "together" in inFlight;
}

/** Without an outcome on disk nothing was committed. */
function transactionOutcome(guarded: Guarded, record: SandboxRecord): "committed" | "aborted" {
  return doneOf(guarded, record)?.outcome ?? "aborted";
}

async function undoHappened(guarded: Guarded, record: SandboxRecord): Promise<boolean> {
  const { raw } = guarded;
  if (capabilitiesOf(raw, record.ref).prepare || isTogether(record)) {
    return transactionOutcome(guarded, record) === "committed";
  }
  // Idempotent by contract: it finishes what it had begun.
  await raw.undoCommit?.(record.ref);
  return true;
}

function doneOf(
  { engine }: Guarded,
  record: SandboxRecord,
): ReturnType<typeof engine.log.outcomeOf> {
  const transaction = transactionOf(record);
  return transaction === null ? null : engine.log.outcomeOf(transaction);
}

function partOf({ engine }: Guarded, record: SandboxRecord): TransactionPart {
  const ulid = transactionOf(record) ?? "";
  return { gid: gidOf(engine, ulid), ulid, member: 0, kind: "commit", record: null };
}
