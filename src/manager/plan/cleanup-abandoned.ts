import type { CallOptions } from "../../contract/strategy.ts";
import { PlanBusyError } from "../../errors/index.ts";
import type { SandboxRecord } from "../../journal/sandbox-record.ts";
import type { Engine } from "../engine.ts";
import { asCleanupError } from "../failures.ts";
import { asHolder } from "../held-plans.ts";
import { lockPlan } from "../plan-lock.ts";
import { recover } from "../recover.ts";
import { refuseAborted, tracked } from "../with-sandbox.ts";
import { type PlanReport, cleanupPlan } from "./rollback-plan.ts";

/** Options of `cleanupAbandoned`. */
export interface AbandonedOptions extends CallOptions {
  /** How long a plan without an owner must have been idle; the limit `leaseMs` (a day) unless given. */
  readonly idleMs?: number;
}

/** Why a plan was left alone. */
export type SparedBecause =
  /** It outlives its owners. */
  | "kept"
  /** An instance that works on it is open. */
  | "owned"
  /** It has no owner any more, and was used a short while ago. */
  | "recent"
  /** Somebody is changing it right now. */
  | "busy";

/** What became of every plan. */
export interface AbandonedReport {
  /** The plans that were abandoned, with what could not be removed. */
  readonly abandoned: readonly PlanReport[];
  /** The plans that were left alone, by plan id. */
  readonly spared: Readonly<Record<string, SparedBecause>>;
}

/**
 * Frees everything that abandoned plans own: those that nobody keeps, whose owners have all ended, and that are idle for
 * longer than the lease. Interrupted work is recovered first. Goes on after failures and tells them.
 */
export function cleanupAbandoned(
  engine: Engine,
  options: AbandonedOptions = {},
): Promise<AbandonedReport> {
  return tracked(engine, async () => {
    refuseAborted(options.signal, "cleanup");
    await recover(engine);
    const abandoned: PlanReport[] = [];
    const spared: Record<string, SparedBecause> = {};
    const planIds = new Set(engine.store.listAll().records.map(({ ref }) => ref.planId));
    for (const planId of planIds) {
      refuseAborted(options.signal, "cleanup");
      const found = await cleanIfAbandoned(engine, planId, options);
      if (typeof found === "string") spared[planId] = found;
      else abandoned.push(found);
    }
    await engine.owners.sweep();
    return { abandoned, spared };
  });
}

async function cleanIfAbandoned(
  engine: Engine,
  planId: string,
  options: AbandonedOptions,
): Promise<PlanReport | SparedBecause> {
  const { signal, idleMs = engine.limits.leaseMs } = options;
  try {
    await using lock = await lockPlan(engine, planId, { exclusive: true, signal, timeoutMs: 0 });
    if (lock === null) return nothingLeft(planId);
    return await asHolder(engine.store.lockFile(planId), async () => {
      const reason = await reasonToSpare(engine, planId, idleMs);
      return reason ?? (await cleanupPlan(engine, planId, signal === undefined ? {} : { signal }));
    });
  } catch (thrown) {
    if (thrown instanceof PlanBusyError) return "busy";
    const error = asCleanupError(thrown).inContext({ planId });
    return { ...nothingLeft(planId), failed: { [planId]: error.toJSON() } };
  }
}

async function reasonToSpare(
  engine: Engine,
  planId: string,
  idleMs: number,
): Promise<SparedBecause | null> {
  if (engine.owners.isKept(planId)) return "kept";
  if (await engine.owners.isOwned(planId)) return "owned";
  const used = Math.max(
    engine.owners.lastSign(planId),
    ...engine.store.list(planId).map(lastChange),
  );
  return engine.clock.now().getTime() - used < idleMs ? "recent" : null;
}

function lastChange({ updatedAt }: SandboxRecord): number {
  return Date.parse(updatedAt);
}

function nothingLeft(planId: string): PlanReport {
  return { planId, succeeded: [], failed: {}, skipped: {} };
}
