import {
  type ErrorJson,
  PlanBusyError,
  type RecordDamagedError,
  type SandboxError,
  describeThrown,
} from "../errors/index.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { FileLock } from "../locks/file-lock.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import type { SandboxStatus } from "../model/status.ts";
import { type Engine, guardedOf } from "./engine.ts";
import { asRollbackError, rollbackError } from "./failures.ts";
import { holdSignals } from "./hold-signals.ts";
import { findRecord } from "./known-record.ts";
import { lockPlan } from "./plan-lock.ts";
import { recoverTransaction } from "./recover-transaction.ts";
import { isInterrupted, settleSandbox } from "./settle-sandbox.ts";
import { sweepLeftovers } from "./sweep-leftovers.ts";
import { tracked } from "./with-sandbox.ts";

/** Whoever holds a plan for longer is at work in it, and recovery has no business there. */
const QUICKLY = { exclusive: true, timeoutMs: 250 } as const;

/** What became of one transaction. */
export interface RecoveredTransaction {
  readonly transaction: string;
  /** `busy`: its owner lives and was left alone; `failed`: it stays for the next try. */
  readonly outcome: "committed" | "aborted" | "busy" | "failed";
  readonly error: ErrorJson | null;
}

/** What became of one sandbox. */
export interface RecoveredSandbox {
  readonly ref: SandboxRef;
  readonly from: SandboxStatus;
  readonly to: SandboxStatus;
  readonly error: ErrorJson | null;
}

/** What a recovery found and did. */
export interface RecoveryReport {
  readonly transactions: readonly RecoveredTransaction[];
  readonly sandboxes: readonly RecoveredSandbox[];
  /** Records that cannot be read; their plans are left alone. */
  readonly damaged: readonly ErrorJson[];
  /** Whether nothing is left that needs another recovery or a person. */
  readonly complete: boolean;
}

/** Work that was interrupted and not yet recovered. */
export interface InterruptedWork {
  /** Transactions that are not finished. */
  readonly transactions: readonly string[];
  readonly sandboxes: readonly { readonly ref: SandboxRef; readonly status: SandboxStatus }[];
  readonly damaged: readonly ErrorJson[];
}

/** Looks for interrupted work and changes nothing. Work of living processes may be among it. */
export function findInterrupted(engine: Engine): InterruptedWork {
  const { records, damaged } = engine.store.listAll();
  return {
    transactions: engine.log.list(),
    sandboxes: records.filter(isInterrupted).map(({ ref, status }) => ({ ref, status })),
    damaged: damaged.map((error) => error.toJSON()),
  };
}

/**
 * Finishes or takes back everything that was interrupted, and nothing whose owner lives. Idempotent; safe against being
 * killed; one that fails keeps no other from being recovered.
 */
export function recover(engine: Engine): Promise<RecoveryReport> {
  return tracked(engine, async () => {
    using _hold = holdSignals();
    const transactions: RecoveredTransaction[] = [];
    for (const ulid of engine.log.list())
      transactions.push(...(await settleTransaction(engine, ulid)));
    const { records, damaged } = engine.store.listAll();
    const sandboxes: RecoveredSandbox[] = [];
    for (const record of records.filter(isInterrupted))
      sandboxes.push(...(await settle(engine, record)));
    await sweepLeftovers(engine);
    return report(transactions, sandboxes, damaged);
  });
}

function report(
  transactions: readonly RecoveredTransaction[],
  sandboxes: readonly RecoveredSandbox[],
  damaged: readonly RecordDamagedError[],
): RecoveryReport {
  const complete =
    damaged.length === 0 &&
    transactions.every(({ error }) => error === null) &&
    sandboxes.every(({ error, to }) => error === null && to !== "ERRORED");
  return { transactions, sandboxes, damaged: damaged.map((error) => error.toJSON()), complete };
}

async function settleTransaction(
  engine: Engine,
  transaction: string,
): Promise<RecoveredTransaction[]> {
  try {
    const settled = await withPlansOf(engine, transaction, () =>
      recoverTransaction(engine, transaction),
    );
    if (settled === "gone") return [];
    if (settled === "busy") return [{ transaction, outcome: settled, error: null }];
    const { outcome, obstacle } = settled;
    // What could not be cleared away, although it is decided, is still there.
    if (engine.log.isRunning(transaction)) {
      return [{ transaction, outcome: "failed", error: pending(transaction, obstacle).toJSON() }];
    }
    engine.emit("transaction.recovered", { transaction, outcome });
    return [{ transaction, outcome, error: null }];
  } catch (thrown) {
    if (thrown instanceof PlanBusyError) return [{ transaction, outcome: "busy", error: null }];
    const error = asRollbackError(thrown);
    const data = { transaction, reason: describeThrown(thrown) };
    engine.emit("transaction.recoveryFailed", data, "warning");
    return [{ transaction, outcome: "failed", error: error.toJSON() }];
  }
}

/** Locks the plans of a transaction, always in the same order, unless its owner lives. */
async function withPlansOf<T>(
  engine: Engine,
  transaction: string,
  work: () => Promise<T>,
): Promise<T | "busy" | "gone"> {
  const probe = await engine.log.open(transaction);
  if (typeof probe === "string") return probe;
  await probe[Symbol.asyncDispose]();
  const members = engine.log.intentOf(transaction)?.members ?? [];
  const planIds = [...new Set(members.map(({ ref }) => ref.planId))].toSorted();
  const held: FileLock[] = [];
  try {
    for (const planId of planIds) {
      const lock = await lockPlan(engine, planId, QUICKLY);
      if (lock !== null) held.push(lock);
    }
    return await work();
  } finally {
    for (const lock of held.toReversed()) await lock[Symbol.asyncDispose]();
  }
}

async function settle(engine: Engine, { ref }: SandboxRecord): Promise<RecoveredSandbox[]> {
  let from: SandboxStatus = "PENDING";
  try {
    const guarded = await guardedOf(engine, ref.strategyName);
    await using lock = await lockPlan(engine, ref.planId, QUICKLY);
    const record = lock === null ? null : findRecord(engine, ref);
    if (record === null || !isInterrupted(record)) return [];
    from = record.status;
    engine.store.sweep(ref.planId);
    const { status: to } = await settleSandbox(guarded, record);
    const data = { planId: ref.planId, sandboxId: ref.sandboxId, from, to };
    engine.emit("sandbox.recovered", data, to === "ERRORED" ? "warning" : "info");
    return [{ ref, from, to, error: null }];
  } catch (thrown) {
    if (thrown instanceof PlanBusyError) return [];
    const error = asRollbackError(thrown);
    const to = findRecord(engine, ref)?.status ?? from;
    return [{ ref, from, to, error: error.toJSON() }];
  }
}

/** The error for a transaction that waits for the next recovery; its cause says what for. */
function pending(transaction: string, obstacle: unknown): SandboxError {
  const why = obstacle === null ? "" : `: ${describeThrown(obstacle)}`;
  const message = `The transaction ${transaction} could not be cleared away${why}`;
  return rollbackError("io", message, {
    ...(obstacle !== null && { cause: obstacle }),
    hint: "Remove the cause and run recover.",
  });
}
