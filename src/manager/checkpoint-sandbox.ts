import { withDefaults } from "../contract/capabilities.ts";
import type { CallOptions, CheckpointOptions } from "../contract/strategy.ts";
import { CheckpointError, SandboxError } from "../errors/index.ts";
import type { CheckpointRecord, SandboxRecord } from "../journal/sandbox-record.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import { type Guarded, timestamp } from "./engine.ts";
import { asCheckpointError, stuckRestore } from "./failures.ts";
import { holdSignals } from "./hold-signals.ts";
import { moveIfPossible, moveRecord, updateRecord } from "./record-moves.ts";
import { type SandboxCall, withSandbox } from "./with-sandbox.ts";

const PROPER_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** Ids that a restore gives to the states before it. */
const AUTOMATIC = "auto-";

/** Keeps the present state of a sandbox under an id. Identity and order are decided here, the bytes are the strategy's. */
export function makeCheckpoint(
  guarded: Guarded,
  ref: SandboxRef,
  checkpointId: string,
  options: CheckpointOptions = {},
): Promise<void> {
  return withCheckpoints(guarded, ref, "checkpoint", checkpointId, options, async (record) => {
    if (checkpointId.startsWith(AUTOMATIC)) throw checkpointError(checkpointId, "malformed");
    if (find(record, checkpointId) !== undefined) throw checkpointError(checkpointId, "duplicate");
    const made = await keep(guarded, record, checkpointId, options);
    await updateRecord(guarded.engine, record, made);
    tell(guarded, ref, "sandbox.checkpointed", checkpointId);
  });
}

/**
 * Brings a sandbox back to a kept state. The state before is kept automatically, so that a restore can be undone and an
 * interrupted one can be taken back; other checkpoints stay.
 */
export function restoreCheckpoint(
  guarded: Guarded,
  ref: SandboxRef,
  checkpointId: string,
  options: CallOptions = {},
): Promise<void> {
  return withCheckpoints(
    guarded,
    ref,
    "restoreCheckpoint",
    checkpointId,
    options,
    async (before) => {
      using _hold = holdSignals();
      const { engine, raw } = guarded;
      const target = find(before, checkpointId);
      if (target === undefined) throw checkpointError(checkpointId, "unknown");
      const id = `${AUTOMATIC}${engine.ids.next()}`;
      const kept = await keep(guarded, before, id, {
        note: `before the restore of ${checkpointId}`,
      });
      const storage = kept.checkpoints.at(-1)!.storage;
      const record = await updateRecord(engine, before, {
        ...kept,
        inFlight: { operation: "restoreCheckpoint", from: before.status, storage },
      });
      try {
        await raw.restoreCheckpoint(ref, target.storage, options);
      } catch (thrown) {
        throw await settleFailedRestore(guarded, record, storage, thrown, checkpointId);
      }
      const restored = await recordRestored(guarded, record, storage, checkpointId);
      await dropOldest(guarded, restored);
      tell(guarded, ref, "sandbox.restored", checkpointId);
    },
  );
}

/** Drops one checkpoint and forgets it. */
export function deleteCheckpoint(
  guarded: Guarded,
  ref: SandboxRef,
  checkpointId: string,
): Promise<void> {
  return withCheckpoints(guarded, ref, "checkpoint", checkpointId, {}, async (record) => {
    const target = find(record, checkpointId);
    if (target === undefined) throw checkpointError(checkpointId, "unknown");
    await drop(guarded, record, [target]);
    tell(guarded, ref, "sandbox.checkpointDeleted", checkpointId);
  });
}

function withCheckpoints(
  guarded: Guarded,
  ref: SandboxRef,
  operation: "checkpoint" | "restoreCheckpoint",
  checkpointId: string,
  options: CallOptions,
  body: (record: SandboxRecord) => Promise<void>,
): Promise<void> {
  const failure: SandboxCall["failure"] = (thrown) =>
    asCheckpointError(thrown, checkpointId, operation);
  return withSandbox(guarded, { ref, operation, access: "change", options, failure }, (record) => {
    if (typeof checkpointId !== "string" || !PROPER_ID.test(checkpointId)) {
      throw checkpointError(checkpointId, "malformed");
    }
    const { checkpoints } = withDefaults(guarded.raw.capabilities);
    if (checkpoints === "none") throw checkpointError(checkpointId, "unsupported");
    return body(record);
  });
}

/** Lets the strategy keep the state under a name that nobody used before, and gives the record's new fields. */
async function keep(
  { engine, raw }: Guarded,
  record: SandboxRecord,
  id: string,
  options: CheckpointOptions,
): Promise<Pick<SandboxRecord, "checkpoints" | "currentCheckpoint">> {
  const storage = engine.ids.next();
  await raw.checkpoint(record.ref, storage, options);
  const made: CheckpointRecord = {
    id,
    storage,
    createdAt: timestamp(engine),
    parentId: record.currentCheckpoint,
    note: options.note ?? null,
    automatic: id.startsWith(AUTOMATIC),
  };
  return { checkpoints: [...record.checkpoints, made], currentCheckpoint: id };
}

/** A restore that cannot be recorded is taken back: whoever comes next would take it back as well. */
async function recordRestored(
  guarded: Guarded,
  record: SandboxRecord,
  storage: string,
  checkpointId: string,
): Promise<SandboxRecord> {
  const changes = { inFlight: null, currentCheckpoint: checkpointId };
  try {
    return await moveRecord(
      guarded.engine,
      record,
      record.status === "ACTIVE" ? [] : "ACTIVE",
      changes,
    );
  } catch (thrown) {
    throw await settleFailedRestore(guarded, record, storage, thrown, checkpointId);
  }
}

/** A failed restore leaves the workspace as it was: by the strategy's word, else by going back to the kept state. */
async function settleFailedRestore(
  guarded: Guarded,
  record: SandboxRecord,
  storage: string,
  thrown: unknown,
  checkpointId: string,
): Promise<SandboxError> {
  const { engine, raw } = guarded;
  const error = asCheckpointError(thrown, checkpointId, "restoreCheckpoint");
  const lastError = error.toJSON();
  try {
    if (!(thrown instanceof SandboxError)) await raw.restoreCheckpoint(record.ref, storage);
    await updateRecord(engine, record, { inFlight: null, lastError });
    return error;
  } catch {
    const keptAs = record.checkpoints.find((kept) => kept.storage === storage)?.id ?? "";
    const stuck = stuckRestore(thrown, checkpointId, keptAs).inContext(record.ref);
    const active = { ...record, status: "ACTIVE" } as const;
    await moveIfPossible(engine, active, "ERRORED", { lastError: stuck.toJSON() });
    return stuck;
  }
}

async function dropOldest(guarded: Guarded, record: SandboxRecord): Promise<void> {
  const { engine, raw } = guarded;
  if (raw.deleteCheckpoint === undefined) return;
  const automatic = record.checkpoints.filter(
    (checkpoint) => checkpoint.automatic && checkpoint.id !== record.currentCheckpoint,
  );
  const surplus = automatic.slice(
    0,
    Math.max(0, automatic.length - engine.limits.automaticCheckpoints),
  );
  if (surplus.length > 0) await drop(guarded, record, surplus);
}

/** Forgets first: a name without bytes would be a promise that cannot be kept, bytes without a name are only space. */
async function drop(
  { engine, raw }: Guarded,
  record: SandboxRecord,
  dropped: readonly CheckpointRecord[],
): Promise<void> {
  const gone = new Map(dropped.map(({ id, parentId }) => [id, parentId]));
  const survivor = (id: string | null): string | null =>
    id !== null && gone.has(id) ? survivor(gone.get(id) ?? null) : id;
  const checkpoints = record.checkpoints
    .filter(({ id }) => !gone.has(id))
    .map((checkpoint) => ({ ...checkpoint, parentId: survivor(checkpoint.parentId) }));
  const currentCheckpoint = survivor(record.currentCheckpoint);
  await updateRecord(engine, record, { checkpoints, currentCheckpoint });
  for (const { storage } of dropped) await raw.deleteCheckpoint?.(record.ref, storage);
}

function find({ checkpoints }: SandboxRecord, checkpointId: string): CheckpointRecord | undefined {
  return checkpoints.find(({ id }) => id === checkpointId);
}

function checkpointError(
  checkpointId: unknown,
  reason: CheckpointError["data"]["reason"],
): CheckpointError {
  const shown = String(checkpointId).slice(0, 200);
  const messages: Partial<Record<typeof reason, string>> = {
    malformed:
      "A checkpoint id has 1 to 100 letters, digits, dots, dashes and underscores and does not begin with auto-",
    unsupported: "This strategy keeps no checkpoints",
  };
  return new CheckpointError(messages[reason] ?? `The checkpoint ${shown} is ${reason}`, {
    data: { checkpointId: shown, reason },
    operation: "checkpoint",
  });
}

function tell({ engine }: Guarded, ref: SandboxRef, name: string, checkpointId: string): void {
  engine.emit(name, { planId: ref.planId, sandboxId: ref.sandboxId, checkpointId });
}
