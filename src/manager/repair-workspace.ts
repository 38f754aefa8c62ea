import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { Guarded } from "./engine.ts";
import { asCheckpointError, asRollbackError } from "./failures.ts";
import { updateRecord } from "./record-moves.ts";

/** Whether the workspace must not be used as it is. The real resource is never in question here. */
export function needsRepair(record: SandboxRecord): boolean {
  return record.workspaceStale || record.inFlight?.operation === "restoreCheckpoint";
}

/**
 * Brings a workspace back into a state that is known: after a restore that was interrupted, the state before it; after
 * a reset that failed, a fresh one. The plan is locked by the caller.
 */
export async function repairWorkspace(
  { engine, raw }: Guarded,
  record: SandboxRecord,
): Promise<SandboxRecord> {
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
