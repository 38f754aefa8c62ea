import type { ConnectionSetting, StrategyHost } from "../contract/host.ts";
import type { CommitOptions, SandboxStrategy } from "../contract/strategy.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import { findArea } from "../journal/storage-area.ts";
import type { UndoneCommit } from "../journal/transaction-record.ts";
import type { CommitResult } from "../model/commit-result.ts";
import type { Resource } from "../model/resource.ts";
import { REF_SCHEMA_VERSION, type SandboxRef } from "../model/sandbox-ref.ts";
import type { SandboxOperation } from "../model/status.ts";
import { ioctlInBackground } from "../platform/native/ioctl.ts";
import { run } from "../platform/run.ts";
import { type Engine, type PendingCreation, timestamp } from "./engine.ts";
import { committedRecord, transactionOf } from "./commit-sandbox.ts";
import { findRecord, knownRecord, notNow, unknownRef } from "./known-record.ts";
import { emptyResult } from "./results.ts";
import { runTransaction } from "./transaction.ts";

/** Makes what the strategy of this name is constructed with. */
export function createHost(
  engine: Engine,
  strategyName: string,
  connections: ReadonlyMap<string, ConnectionSetting>,
): StrategyHost {
  const { clock, ids, state } = engine;
  return {
    clock,
    ids,
    strategyName,
    stateDirectory: state.path,
    connections: () => connections,
    emit: (name, data, level) => engine.emit(name, { strategyName, ...data }, level),
    run,
    ioctl: ioctlInBackground,
    areaFor: (location) =>
      findArea(location, { stateDirectory: state.path, allowParent: engine.allowParentArea }),
    newRef: (planId, resource, metadata, base = "") => ({
      schemaVersion: REF_SCHEMA_VERSION,
      sandboxId: pendingFor(engine, planId, resource.resourceId)?.sandboxId ?? ids.next(),
      planId,
      resourceId: resource.resourceId,
      strategyName,
      chosenBy: "call",
      createdAt: timestamp(engine),
      baseFingerprintId: base,
      metadata,
    }),
    resourceOf: (ref) => Promise.resolve(resourceOf(engine, ref)),
    commitAlone: (strategy, ref, options = {}) => commitAlone(engine, strategy, ref, options),
    undoAlone: (strategy, ref, options = {}) => undoAlone(engine, strategy, ref, options),
  };
}

function resourceOf(engine: Engine, ref: SandboxRef): Resource {
  const record = findRecord(engine, ref);
  if (record !== null) return record.resource;
  const pending = pendingFor(engine, ref.planId, ref.resourceId);
  if (pending === undefined) throw unknownRef(ref, "read");
  return pending.resource;
}

function pendingFor(
  engine: Engine,
  planId: string,
  resourceId: string,
): PendingCreation | undefined {
  return [...engine.pending].find(
    (pending) => pending.planId === planId && pending.resource.resourceId === resourceId,
  );
}

/** Runs a commit that the guard has begun: it holds the plan's lock and has recorded the transaction's id. */
async function commitAlone(
  engine: Engine,
  strategy: SandboxStrategy,
  ref: SandboxRef,
  options: CommitOptions,
): Promise<CommitResult> {
  const { record, transaction } = begun(engine, ref, "commit", ["commit"]);
  // A digest that the caller expects has to be compared, also with that of no changes at all.
  const signal = options.signal === undefined ? {} : { signal: options.signal };
  const mayBeEmpty = options.expect === undefined && strategy.hasChanges !== undefined;
  if (mayBeEmpty && (await strategy.hasChanges?.(ref, { ...signal, transaction })) === false) {
    return emptyResult(ref, options.message ?? null, timestamp(engine));
  }
  const member = { strategy, ref, location: record.resource.location, record: null, undoes: null };
  const { message = null } = options;
  const [result] = await runTransaction(engine, {
    ulid: transaction,
    kind: "commit",
    members: [member],
    options,
    recordBy: (_at, given) => committedRecord(engine, strategy, record, { given, message }),
  });
  return result ?? emptyResult(ref, options.message ?? null, timestamp(engine));
}

/** Runs an undo that the guard has begun. */
async function undoAlone(
  engine: Engine,
  strategy: SandboxStrategy,
  ref: SandboxRef,
  options: CommitOptions,
): Promise<void> {
  const { record, transaction } = begun(engine, ref, "undoCommit", ["undoCommit", "rollback"]);
  const undoes = undoneCommit(engine, record);
  const member = { strategy, ref, location: record.resource.location, record: null, undoes };
  await runTransaction(engine, { ulid: transaction, kind: "undo", members: [member], options });
}

/** The commit that an undo of this sandbox takes back. */
export function undoneCommit(
  engine: Engine,
  { ref, lastTransaction }: SandboxRecord,
): UndoneCommit | null {
  if (lastTransaction === null) return null;
  const members = engine.log.outcomeOf(lastTransaction)?.members ?? [];
  const member = members.find((one) => one.ref.sandboxId === ref.sandboxId);
  return member === undefined ? null : { ulid: lastTransaction, record: member.record };
}

/** A transaction may only run inside the guarded call that has recorded it. */
function begun(
  engine: Engine,
  ref: SandboxRef,
  operation: SandboxOperation,
  wanted: readonly string[],
): { record: SandboxRecord; transaction: string } {
  const record = knownRecord(engine, ref, operation);
  const transaction = transactionOf(record);
  if (transaction === null || !wanted.includes(record.inFlight?.operation ?? "")) {
    throw notNow(record, operation);
  }
  return { record, transaction };
}
