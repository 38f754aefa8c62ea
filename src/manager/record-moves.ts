import { SandboxStateError, describeThrown } from "../errors/index.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import { type SandboxStatus, isTransition } from "../model/status.ts";
import { type Engine, timestamp } from "./engine.ts";

/** What else is recorded with a move. */
export type Changes = Partial<
  Omit<SandboxRecord, "ref" | "resource" | "sequence" | "status" | "updatedAt">
>;

/**
 * Moves a sandbox along the arrows of the state machine, one or several, and writes the last state durably. This is
 * the only file that changes a status.
 */
export async function moveRecord(
  engine: Engine,
  record: SandboxRecord,
  path: SandboxStatus | readonly SandboxStatus[],
  changes: Changes = {},
): Promise<SandboxRecord> {
  const moved = movedRecord(engine, record, path, changes);
  await putOrPutBack(engine, [moved], [record]);
  return moved;
}

/** The same for several at once, all of which move or none. */
export async function moveRecords(
  engine: Engine,
  records: readonly SandboxRecord[],
  status: SandboxStatus,
  changesOf: (record: SandboxRecord) => Changes,
): Promise<readonly SandboxRecord[]> {
  const moved = records.map((record) => movedRecord(engine, record, status, changesOf(record)));
  await putOrPutBack(engine, moved, records);
  return moved;
}

/** The record of a sandbox that has moved, for whoever writes it. */
export function movedRecord(
  engine: Engine,
  record: SandboxRecord,
  path: SandboxStatus | readonly SandboxStatus[],
  changes: Changes,
): SandboxRecord {
  const steps = typeof path === "string" ? [path] : path;
  const status = steps.reduce((from, to) => checked(record, from, to), record.status);
  return { ...record, ...changes, status, updatedAt: timestamp(engine) };
}

async function putOrPutBack(
  engine: Engine,
  moved: readonly SandboxRecord[],
  before: readonly SandboxRecord[],
): Promise<void> {
  try {
    await engine.store.put(...moved);
  } catch (error) {
    await putBack(engine, before);
    throw error;
  }
}

/** What failed to be written may still be there without being sure to stay; the caller goes by the records before. */
async function putBack(engine: Engine, records: readonly SandboxRecord[]): Promise<void> {
  try {
    await engine.store.put(...records);
  } catch {
    // Either record leads recovery to the same end.
  }
}

/**
 * As `moveRecord`, for what must be told to the caller even where nothing can be written any more: the in-flight mark
 * then stays on disk, and recovery finds out what happened.
 */
export async function moveIfPossible(
  engine: Engine,
  record: SandboxRecord,
  status: SandboxStatus,
  changes: Changes,
): Promise<void> {
  try {
    await moveRecord(engine, record, status, changes);
  } catch (thrown) {
    const { planId, sandboxId } = record.ref;
    const data = { planId, sandboxId, status, reason: describeThrown(thrown) };
    engine.emit("sandbox.recordPending", data, "warning");
  }
}

/** Changes what is recorded without moving. */
export function updateRecord(
  engine: Engine,
  record: SandboxRecord,
  changes: Changes,
): Promise<SandboxRecord> {
  return moveRecord(engine, record, [], changes);
}

function checked(record: SandboxRecord, from: SandboxStatus, to: SandboxStatus): SandboxStatus {
  if (isTransition(from, to)) return to;
  throw new SandboxStateError(`The state machine has no arrow from ${from} to ${to}`, {
    data: { status: from, attempted: to, allowedFrom: [], reason: "status" },
    sandboxId: record.ref.sandboxId,
    planId: record.ref.planId,
  });
}
