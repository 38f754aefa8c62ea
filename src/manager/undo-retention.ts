import { PlanBusyError, describeThrown } from "../errors/index.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import { addToList } from "../model/add-to-list.ts";
import type { CommitResult } from "../model/commit-result.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import { idTime, isId } from "../platform/ids.ts";
import { type Engine, type UndoBudget, type UndoLimits, guardedOf } from "./engine.ts";
import { findRecord } from "./known-record.ts";
import { lockPlan } from "./plan-lock.ts";
import { updateRecord } from "./record-moves.ts";

/** Undo data that was given up. */
export interface DroppedUndo {
  readonly ref: SandboxRef;
  readonly bytes: number;
}

/** What was given up because it was too old, or too much. */
export interface PruneReport {
  readonly undo: readonly DroppedUndo[];
  /** Ids of finished transactions that history no longer tells. */
  readonly history: readonly string[];
}

const DAY_MS = 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;
/** A commit looks at all others only when so much of the limit may have been added since the last look. */
const SHARE = 16;
const GIVEN_UP = {
  possible: false,
  by: "its undo data was given up (undo.retention_days, undo.max_bytes)",
};

/** Counts the undo data of commits, and gives the oldest up when it is time. */
export class UndoRetention implements UndoBudget {
  readonly limits: UndoLimits;
  #added = 0;
  #lookedAt = 0;

  constructor(limits: UndoLimits) {
    this.limits = limits;
  }

  add({ undoable }: CommitResult): void {
    this.#added += undoable.bytes ?? 0;
  }

  async settle(engine: Engine): Promise<void> {
    const now = engine.clock.now().getTime();
    const { maxBytes, retentionDays } = this.limits;
    const isDue =
      retentionDays === 0 || this.#added * SHARE >= maxBytes || now - this.#lookedAt > HOUR_MS;
    if (!isDue) return;
    this.#added = 0;
    this.#lookedAt = now;
    try {
      await prune(engine, this.limits);
    } catch (thrown) {
      engine.emit("undo.kept", { reason: describeThrown(thrown) }, "warning");
    }
  }
}

/**
 * Gives up undo data that is older than allowed, then the oldest on each device that holds more than allowed; whole
 * commits at a time, and never one that is not finished. Forgets finished transactions of that age as well.
 */
export async function prune(engine: Engine, limits: UndoLimits): Promise<PruneReport> {
  const { records } = engine.store.listAll();
  const oldest = engine.clock.now().getTime() - limits.retentionDays * DAY_MS;
  const commits = commitsWithUndoData(engine, records);
  const surplus = tooMuch(
    commits.filter(({ at }) => at > oldest),
    limits.maxBytes,
  );
  const undo: DroppedUndo[] = [];
  for (const commit of commits) {
    if (commit.at > oldest && !surplus.has(commit)) continue;
    for (const record of commit.members) undo.push(...(await drop(engine, record)));
  }
  return { undo, history: forgetHistory(engine, records, oldest) };
}

interface Commit {
  readonly at: number;
  readonly members: readonly SandboxRecord[];
}

/** Oldest first. */
function commitsWithUndoData(engine: Engine, records: readonly SandboxRecord[]): Commit[] {
  const groups = new Map<string, SandboxRecord[]>();
  for (const record of records) {
    const { status, lastResult, lastTransaction, ref } = record;
    if (status !== "COMMITTED" || lastResult?.undoable.bytes === undefined) continue;
    if (!lastResult.undoable.possible) continue;
    if (lastTransaction !== null && engine.log.isRunning(lastTransaction)) continue;
    const key = lastTransaction ?? ref.sandboxId;
    addToList(groups, key, record);
  }
  const commits = [...groups.values()].map((members) => ({
    members,
    at: Math.max(...members.map(({ lastResult }) => Date.parse(lastResult?.committedAt ?? ""))),
  }));
  return commits.toSorted((a, b) => a.at - b.at);
}

/** The oldest commits that have to go so that no device holds too much. */
function tooMuch(commits: readonly Commit[], maxBytes: number): Set<Commit> {
  const sums = new Map<string, number>();
  const surplus = new Set<Commit>();
  for (const commit of commits.toReversed()) {
    for (const { lastResult } of commit.members) {
      const { device = "", bytes = 0 } = lastResult?.undoable ?? {};
      const sum = (sums.get(device) ?? 0) + bytes;
      sums.set(device, sum);
      if (sum > maxBytes) surplus.add(commit);
    }
  }
  return surplus;
}

async function drop(
  engine: Engine,
  { ref, lastTransaction }: SandboxRecord,
): Promise<DroppedUndo[]> {
  const { planId, sandboxId } = ref;
  try {
    const { raw } = await guardedOf(engine, ref.strategyName);
    if (raw.dropUndo === undefined) return [];
    await using lock = await lockPlan(engine, planId, { exclusive: true, timeoutMs: 0 });
    const record = lock === null ? null : findRecord(engine, ref);
    const isSame = record?.status === "COMMITTED" && record.lastTransaction === lastTransaction;
    if (!isSame || record.lastResult === null) return [];
    if (!(await raw.dropUndo(ref))) return [];
    const { bytes = 0 } = record.lastResult.undoable;
    await updateRecord(engine, record, {
      lastResult: { ...record.lastResult, undoable: GIVEN_UP },
    });
    engine.emit("undo.dropped", { planId, sandboxId, bytes });
    return [{ ref, bytes }];
  } catch (thrown) {
    if (thrown instanceof PlanBusyError) return [];
    engine.emit("undo.kept", { planId, sandboxId, reason: describeThrown(thrown) }, "warning");
    return [];
  }
}

/** What a sandbox still goes back to is never forgotten. */
function forgetHistory(
  { log }: Engine,
  records: readonly SandboxRecord[],
  oldest: number,
): string[] {
  const needed = new Set(
    records.flatMap(({ lastTransaction, inFlight }) => [
      lastTransaction,
      inFlight !== null && "transaction" in inFlight ? inFlight.transaction : null,
    ]),
  );
  const forgotten = log
    .history()
    .filter((id) => isId(id) && idTime(id) < oldest && !needed.has(id) && !log.isRunning(id));
  for (const id of forgotten) log.forgetOutcome(id);
  return forgotten;
}
