import { capabilitiesOf } from "../../contract/capabilities-of.ts";
import type { CallOptions, CheckpointOptions } from "../../contract/strategy.ts";
import { SandboxError } from "../../errors/index.ts";
import type { CheckpointRecord, SandboxRecord } from "../../journal/sandbox-record.ts";
import type { SandboxRef } from "../../model/sandbox-ref.ts";
import {
  type CheckpointList,
  automaticId,
  automaticNote,
  checkpointError,
  findCheckpoint,
  listWith,
  listWithout,
  refuseMalformed,
  refuseTaken,
  surplusOf,
} from "./checkpoint-list.ts";
import type { Guarded } from "../engine.ts";
import { asCheckpointError } from "../failures.ts";
import { holdSignals } from "../hold-signals.ts";
import { moveRecord, updateRecord } from "../record-moves.ts";
import { takeBackRestore } from "./take-back-restore.ts";
import { type SandboxCall, withSandbox } from "../with-sandbox.ts";

/** Keeps the present state of a sandbox under an id. Identity and order are decided here, the bytes are the strategy's. */
export function makeCheckpoint(
  guarded: Guarded,
  ref: SandboxRef,
  checkpointId: string,
  options: CheckpointOptions = {},
): Promise<void> {
  return withCheckpoints(guarded, ref, "checkpoint", checkpointId, options, async (record) => {
    refuseTaken(record, checkpointId);
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
      const target = findCheckpoint(before, checkpointId);
      const id = automaticId(engine);
      const kept = await keep(guarded, before, id, automaticNote(checkpointId));
      const storage = kept.checkpoints.at(-1)?.storage ?? "";
      const record = await updateRecord(engine, before, {
        ...kept,
        inFlight: { operation: "restoreCheckpoint", from: before.status, storage },
      });
      const failed = { checkpointId, before: { id, storage } };
      let restored: SandboxRecord;
      try {
        await raw.restoreCheckpoint(ref, target.storage, options);
        const path = record.status === "ACTIVE" ? [] : "ACTIVE";
        const changes = { inFlight: null, currentCheckpoint: checkpointId };
        // A restore that cannot be recorded is taken back: whoever comes next would take it back as well.
        restored = await moveRecord(engine, record, path, changes);
      } catch (thrown) {
        const isAsBefore = thrown instanceof SandboxError;
        throw (await takeBackRestore(guarded, record, { ...failed, thrown, isAsBefore })).error;
      }
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
    await drop(guarded, record, [findCheckpoint(record, checkpointId)]);
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
    refuseMalformed(checkpointId);
    const { checkpoints } = capabilitiesOf(guarded.raw, ref);
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
): Promise<CheckpointList<CheckpointRecord>> {
  const storage = engine.ids.next();
  await raw.checkpoint(record.ref, storage, options);
  return listWith(engine, record, { id, note: options.note }, { storage });
}

async function dropOldest(guarded: Guarded, record: SandboxRecord): Promise<void> {
  if (guarded.raw.deleteCheckpoint === undefined) return;
  const surplus = surplusOf(guarded.engine, record);
  if (surplus.length > 0) await drop(guarded, record, surplus);
}

/** Forgets first: a name without bytes would be a promise that cannot be kept, bytes without a name are only space. */
async function drop(
  { engine, raw }: Guarded,
  record: SandboxRecord,
  dropped: readonly CheckpointRecord[],
): Promise<void> {
  await updateRecord(engine, record, listWithout(record, dropped));
  for (const { storage } of dropped) await raw.deleteCheckpoint?.(record.ref, storage);
}

function tell({ engine }: Guarded, ref: SandboxRef, name: string, checkpointId: string): void {
  engine.emit(name, { planId: ref.planId, sandboxId: ref.sandboxId, checkpointId });
}
