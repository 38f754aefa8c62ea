import { PlanBusyError } from "../errors/index.ts";
import { acquireLock, type FileLock } from "../locks/file-lock.ts";
import { isErrno, throwUnlessErrno } from "../platform/native/native-error.ts";
import type { Engine } from "./engine.ts";
import { asHolder, isHeld } from "./held-plans.ts";

/** How a plan is locked. */
export interface PlanLockOptions {
  readonly exclusive: boolean;
  readonly signal?: AbortSignal | undefined;
  /** How long to wait; the usual limit unless given. */
  readonly timeoutMs?: number;
}

/** How often a plan may be taken away between making and locking it. */
const ATTEMPTS = 100;

/**
 * Locks a plan that exists; null when it does not.
 * @throws PlanBusyError (`PLAN_BUSY`) when it is not free in time.
 */
export async function lockPlan(
  engine: Engine,
  planId: string,
  { exclusive, signal, timeoutMs = engine.limits.lockTimeoutMs }: PlanLockOptions,
): Promise<FileLock | null> {
  const file = engine.store.lockFile(planId);
  if (isHeld(file)) return NOT_OURS_TO_RELEASE;
  try {
    return await acquireLock(file, { exclusive, timeoutMs, signal });
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR");
    return null;
  }
}

const NOT_OURS_TO_RELEASE: FileLock = { [Symbol.asyncDispose]: () => Promise.resolve() };

/**
 * Runs work on all sandboxes of a plan with the plan locked alone; calls on single sandboxes inside it do not wait for
 * the lock again. They must be made one after the other. Null when there is no such plan.
 */
export async function withWholePlan<T>(
  engine: Engine,
  planId: string,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T | null> {
  await using lock = await lockPlan(engine, planId, { exclusive: true, signal });
  if (lock === null) return null;
  return await asHolder(engine.store.lockFile(planId), work);
}

/** As `withWholePlan`, and only while no command runs in the plan: its work must not change under its hands. */
export function withQuietPlan<T>(
  engine: Engine,
  planId: string,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T | null> {
  return withWholePlan(engine, planId, signal, () => {
    refuseRunning(engine, planId);
    return work();
  });
}

/**
 * Refuses to change a plan that a command runs in.
 * @throws PlanBusyError (`PLAN_BUSY`)
 */
export function refuseRunning(engine: Engine, planId: string): void {
  const holder = engine.runs.running(planId);
  if (holder === null) return;
  const who = holder.pid === null ? "" : `, started by process ${holder.pid}`;
  throw new PlanBusyError(`A command runs in this plan${who}`, {
    data: { holder },
    planId,
    hint: "Wait for its end, or end it, and try again; looking at the plan works meanwhile.",
  });
}

/** Locks a plan alone, made if need be. */
export async function lockNewPlan(
  engine: Engine,
  planId: string,
  signal?: AbortSignal,
): Promise<FileLock> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await engine.store.ensurePlan(planId);
    } catch (error) {
      // The last sandbox of the plan was just cleaned up by somebody else.
      if (!isErrno(error, "ENOENT") || attempt === ATTEMPTS) throw error;
    }
    const lock = await lockPlan(engine, planId, { exclusive: true, signal });
    if (lock !== null) return lock;
    if (attempt === ATTEMPTS) throw new Error(`the plan ${planId} cannot be made`);
  }
}
