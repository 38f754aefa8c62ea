import type { CleanupOptions, RemovalOptions } from "../contract/strategy.ts";
import { RecordDamagedError, SandboxCleanupError, describeThrown } from "../errors/index.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import { isAllowed } from "../model/status.ts";
import { transactionOf } from "./commit-sandbox.ts";
import type { Engine, Guarded } from "./engine.ts";
import { asCleanupError } from "./failures.ts";
import { holdSignals } from "./hold-signals.ts";
import { findRecord, knownRecord } from "./known-record.ts";
import { lockPlan, refuseRunning } from "./plan-lock.ts";
import { updateRecord } from "./record-moves.ts";
import { settleSandbox } from "./settle-sandbox.ts";
import { gidOf } from "./transaction.ts";
import { inContext, refuseAborted, tracked } from "./with-sandbox.ts";

/**
 * Frees everything that a sandbox owns and forgets it. Legal from every status, idempotent, and nothing for a sandbox
 * that is not known. Interrupted work is settled first; data that is the only good copy goes only by force.
 */
export async function cleanupSandbox(
  guarded: Guarded,
  ref: SandboxRef,
  options: CleanupOptions = {},
): Promise<void> {
  const { engine, name } = guarded;
  await tracked(engine, async () => {
    try {
      refuseAborted(options.signal, "cleanup");
      if (findRecord(engine, ref) === null) return;
      knownRecord(engine, ref, "cleanup", name);
      using _hold = holdSignals();
      await using lock = await lockPlan(engine, ref.planId, {
        exclusive: true,
        signal: options.signal,
      });
      if (lock === null || findRecord(engine, ref) === null) return;
      refuseRunning(engine, ref.planId);
      const found = knownRecord(engine, ref, "cleanup", name);
      const record = await settled(guarded, found, options.force === true);
      await remove(guarded, record, options);
    } catch (thrown) {
      throw inContext(asCleanupError(thrown), ref);
    }
  });
}

/** Finishes what was interrupted, and refuses, unless forced, where the only good copy of somebody's data would go. */
async function settled(
  guarded: Guarded,
  found: SandboxRecord,
  force: boolean,
): Promise<SandboxRecord> {
  let record = found;
  try {
    if (force || !isAllowed("cleanup", found.status)) record = await settleSandbox(guarded, found);
  } catch (error) {
    if (!force) throw error;
  }
  const place = onlyCopyOf(guarded, record);
  if (force || (place === null && isAllowed("cleanup", record.status))) return record;
  throw new SandboxCleanupError(
    `The sandbox still holds what is needed to bring ${record.resource.location} back`,
    {
      data: { remaining: place === null ? [] : [place] },
      operation: "cleanup",
      hint: "Run recover first, or clean up by force to give that data up.",
    },
  );
}

/** Where undo data lies that nothing else can replace; null when there is none. */
function onlyCopyOf({ engine }: Guarded, record: SandboxRecord): string | null {
  if (record.status !== "ERRORED") return null;
  const { undoDataAt } = (record.lastError?.data ?? {}) as { readonly undoDataAt?: unknown };
  if (typeof undoDataAt === "string") return undoDataAt;
  const transaction = transactionOf(record);
  return transaction !== null && engine.log.isRunning(transaction)
    ? engine.log.folderOf(transaction)
    : null;
}

async function remove(
  { engine, raw }: Guarded,
  record: SandboxRecord,
  options: CleanupOptions,
): Promise<void> {
  const { ref } = record;
  const data = { planId: ref.planId, sandboxId: ref.sandboxId };
  const waiting = [transactionOf(record), record.lastTransaction].filter((ulid) => ulid !== null);
  // Found before anything goes: whatever cannot be read stops here, where it changes nothing.
  const ownAlone = waiting.filter((ulid) => !isOfOthers(engine, ulid, ref));
  try {
    await raw.cleanup(ref, { ...options, decided: decidedIn(engine, waiting) });
  } catch (thrown) {
    const error = inContext(asCleanupError(thrown), ref);
    await updateRecord(engine, record, { lastError: error.toJSON() });
    engine.emit("sandbox.cleanupFailed", { ...data, reason: describeThrown(thrown) }, "warning");
    throw error;
  }
  for (const ulid of waiting) engine.log.discardDraft(ulid);
  for (const ulid of ownAlone) if (engine.log.isRunning(ulid)) await engine.log.discard(ulid);
  await engine.store.remove(ref);
  engine.emit("sandbox.cleanedUp", data);
}

/** What was decided of transactions, by their `gid`; of one whose record is damaged nobody knows. */
function decidedIn(
  engine: Engine,
  waiting: readonly string[],
): NonNullable<RemovalOptions["decided"]> {
  const decided: Record<string, "published" | "reversed"> = {};
  for (const ulid of waiting) {
    try {
      const what = engine.log.decidedIn(ulid);
      if (what !== null) decided[gidOf(engine, ulid)] = what;
    } catch (thrown) {
      if (!(thrown instanceof RecordDamagedError)) throw thrown;
    }
  }
  return decided;
}

/**
 * Whether sandboxes that are still there wait for the end of a transaction as well. Nobody can bring one to its end whose
 * record is damaged.
 */
function isOfOthers({ log, store }: Engine, ulid: string, own: SandboxRef): boolean {
  try {
    const members = log.intentOf(ulid)?.members ?? [];
    return members.some(({ ref }) => ref.sandboxId !== own.sandboxId && store.has(ref));
  } catch (thrown) {
    if (thrown instanceof RecordDamagedError) return false;
    throw thrown;
  }
}
