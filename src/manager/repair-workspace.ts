import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { Engine, Guarded } from "./engine.ts";
import { asCheckpointError, asRollbackError } from "./failures.ts";
import { moveRecord, updateRecord } from "./record-moves.ts";

/** Whether the workspace must not be used as it is. The real resource is never in question here. */
export function needsRepair(record: SandboxRecord): boolean {
  return record.workspaceStale || record.inFlight?.operation === "restoreCheckpoint";
}

/**
 * Takes the mark of a plan's restore from a sandbox when that restore is done, and gives the record as it then is: of
 * anything else it is given as it was. The plan is locked by the caller.
 */
export async function finishPlanRestore(
  engine: Engine,
  record: SandboxRecord,
): Promise<SandboxRecord> {
  const { inFlight, ref } = record;
  if (inFlight?.operation !== "restoreCheckpoint" || inFlight.ofPlan === undefined) return record;
  const { restore, currentCheckpoint } = inFlight.ofPlan;
  if (engine.store.planCheckpoints(ref.planId).lastRestore !== restore) return record;
  return moveRecord(engine, record, "ACTIVE", { inFlight: null, currentCheckpoint });
}

/**
 * Brings a workspace back into a state that is known: after a restore that was interrupted, the state before it, unless
 * the whole plan was restored; after a reset that failed, a fresh one. The plan is locked by the caller.
 */
export async function repairWorkspace(
  { engine, raw }: Guarded,
  found: SandboxRecord,
): Promise<SandboxRecord> {
  const record = await finishPlanRestore(engine, found);
  if (!needsRepair(record)) return record;
  const { ref, inFlight } = record;
  if (inFlight?.operation === "restoreCheckpoint") {
    try {
      await raw.restoreCheckpoint(ref, inFlight.storage);
    } catch (thrown) {
      throw asCheckpointError(thrown, inFlight.storage, "restoreCheckpoint");
    }
  } else {
    try {
      await raw.rollback(ref);
    } catch (thrown) {
      throw asRollbackError(thrown);
    }
  }
  engine.emit("sandbox.workspaceRebuilt", { planId: ref.planId, sandboxId: ref.sandboxId });
  return updateRecord(engine, record, { inFlight: null, workspaceStale: false });
}
