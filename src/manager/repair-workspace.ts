import { removePlaceholder } from "../exec/placeholder.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { Engine, Guarded } from "./engine.ts";
import { asCheckpointError, asRollbackError } from "./failures.ts";
import { moveRecord, updateRecord } from "./record-moves.ts";

/** Whether the workspace must not be used as it is. The real resource is never in question here. */
export function needsRepair(engine: Engine, record: SandboxRecord): boolean {
  return isWrong(record) || isLeft(engine, record);
}

/** Whether a command whose end nobody saw has left a copy with its edits, or surroundings. */
function isLeft(engine: Engine, { lent, ref }: SandboxRecord): boolean {
  return lent !== undefined && lent !== null && engine.runs.running(ref.planId) === null;
}

function isWrong(record: SandboxRecord): boolean {
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
 * the whole plan was restored; after a reset that failed, a fresh one; after a command whose end nobody saw, the one with
 * its edits. The plan is locked by the caller.
 */
export async function repairWorkspace(
  guarded: Guarded,
  found: SandboxRecord,
): Promise<SandboxRecord> {
  const { engine, raw } = guarded;
  const restored = await finishPlanRestore(engine, found);
  const record = isLeft(engine, restored) ? await takeCopy(guarded, restored) : restored;
  if (!isWrong(record)) return record;
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

/**
 * Takes the edits that a command made in a copy, or in the surroundings that it was given. The mark stays where that fails, so that the next call does it; where
 * the copy was set aside meanwhile, that finds nothing to do. The plan is locked by the caller.
 */
export async function takeCopy(
  { engine, raw }: Guarded,
  record: SandboxRecord,
): Promise<SandboxRecord> {
  const { lent } = record;
  if (lent === undefined || lent === null) return record;
  if (lent.placeholder !== null) removePlaceholder(lent.placeholder);
  await raw.endCopy?.(record.ref);
  await raw.endCommand?.(record.ref);
  return updateRecord(engine, record, { lent: null });
}
