import type { SandboxError } from "../../errors/index.ts";
import type { SandboxRecord } from "../../journal/sandbox-record.ts";
import type { Guarded } from "../engine.ts";
import { asCheckpointError, stuckRestore } from "../failures.ts";
import { moveIfPossible, updateRecord } from "../record-moves.ts";

/** A restore that did not come to its end. */
export interface FailedRestore {
  readonly checkpointId: string;
  readonly thrown: unknown;
  /** The automatic checkpoint with the state before it. */
  readonly before: { readonly id: string; readonly storage: string };
  /** The strategy has left, or brought back, the state before by itself. */
  readonly isAsBefore: boolean;
}

/**
 * Takes a failed restore back, by the strategy's word or by going to the kept state, and gives the error to be thrown. A
 * sandbox that cannot be taken back keeps its mark and is ERRORED.
 */
export async function takeBackRestore(
  { engine, raw }: Guarded,
  record: SandboxRecord,
  { checkpointId, thrown, before, isAsBefore }: FailedRestore,
): Promise<{ readonly error: SandboxError; readonly isStuck: boolean }> {
  const error = asCheckpointError(thrown, checkpointId, "restoreCheckpoint");
  try {
    if (!isAsBefore) await raw.restoreCheckpoint(record.ref, before.storage);
    await updateRecord(engine, record, { inFlight: null, lastError: error.toJSON() });
    return { error, isStuck: false };
  } catch {
    const stuck = stuckRestore(thrown, checkpointId, before.id).inContext(record.ref);
    const active = { ...record, status: "ACTIVE" } as const;
    await moveIfPossible(engine, active, "ERRORED", { lastError: stuck.toJSON() });
    return { error: stuck, isStuck: true };
  }
}
