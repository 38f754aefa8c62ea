import type { CallOptions } from "../contract/strategy.ts";
import { OperationTimeoutError, type SandboxError } from "../errors/index.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import type { SandboxOperation } from "../model/status.ts";
import type { Engine, Guarded } from "./engine.ts";
import { assertAllowed, knownRecord, unknownRef } from "./known-record.ts";
import { lockPlan, refuseRunning } from "./plan-lock.ts";
import { needsRepair, repairWorkspace } from "./repair-workspace.ts";

/** One call on a sandbox. */
export interface SandboxCall {
  readonly ref: SandboxRef;
  readonly operation: SandboxOperation;
  /** Alone in the plan, or side by side with other calls that only look. */
  readonly access: "change" | "look";
  readonly options?: CallOptions | undefined;
  /** Take the workspace as it is, because it is going to be thrown away. */
  readonly asItIs?: boolean;
  /** What an error becomes before it leaves; one of the family mostly stays what it is. */
  readonly failure: (thrown: unknown) => SandboxError;
}

/**
 * Runs the body of a call with everything checked and locked: the ref, then the lock of the plan, then the record as
 * it is under the lock, then the status. A workspace that is known to be wrong is rebuilt before the body sees it.
 */
export async function withSandbox<T>(
  guarded: Guarded,
  call: SandboxCall,
  body: (record: SandboxRecord) => Promise<T>,
): Promise<T> {
  const { engine, name } = guarded;
  const { ref, operation, options } = call;
  return tracked(engine, async () => {
    try {
      refuseAborted(options?.signal, operation);
      const early = knownRecord(engine, ref, operation, name);
      const exclusive = call.access === "change" || needsRepair(engine, early);
      await using lock = await lockPlan(engine, ref.planId, { exclusive, signal: options?.signal });
      if (lock === null) throw unknownRef(ref, operation);
      if (call.access === "change" && operation !== "getPath") refuseRunning(engine, ref.planId);
      const record = knownRecord(engine, ref, operation, name);
      assertAllowed(record, operation);
      if (call.asItIs === true || !needsRepair(engine, record)) return await body(record);
      if (exclusive) return await body(await repairWorkspace(guarded, record));
    } catch (error) {
      throw inContext(call.failure(error), ref);
    }
    // Somebody else made a rebuild necessary while this call waited for its turn to look.
    return withSandbox(guarded, { ...call, access: "change" }, body);
  });
}

/** Keeps count of calls, so that closing can wait for them. */
export async function tracked<T>(engine: Engine, work: () => Promise<T>): Promise<T> {
  const promise = work();
  engine.running.add(promise);
  try {
    return await promise;
  } finally {
    engine.running.delete(promise);
  }
}

/** Adds what the thrower could not know. */
export function inContext(error: SandboxError, ref: SandboxRef): SandboxError {
  const { planId, resourceId, sandboxId, strategyName } = ref ?? {};
  return error.inContext({ planId, resourceId, sandboxId, strategyName });
}

/** Ends a call whose caller has given up before anything was begun. */
export function refuseAborted(signal: AbortSignal | undefined, operation: string): void {
  if (signal?.aborted !== true) return;
  throw new OperationTimeoutError(`${operation} was ended by the caller before it began`, {
    data: { limitMs: 0, childEnded: true },
    operation,
    cause: signal.reason,
  });
}
