import type { CallOptions } from "../../contract/strategy.ts";
import { type SandboxError, describeThrown } from "../../errors/index.ts";
import type { SandboxRecord } from "../../journal/sandbox-record.ts";
import type { IntentMember } from "../../journal/transaction-record.ts";
import type { Engine } from "../engine.ts";
import { asRollbackError, rollbackError, unsettledUndo } from "../failures.ts";
import { undoneCommit } from "../host.ts";
import { undoObstacle } from "../preview-undo.ts";
import { moveIfPossible, moveRecord, moveRecords } from "../record-moves.ts";
import {
  markUndone,
  refusePending,
  resetWorkspace,
  settleLastCommit,
  undoNothing,
} from "../rollback-sandbox.ts";
import { noProgress } from "../transaction-members.ts";
import { runTransaction } from "../transaction.ts";
import { inContext } from "../with-sandbox.ts";
import type { PlanMember } from "./plan-members.ts";
import { type MemberClass, classOf, promiseOf } from "./plan-promise.ts";

/** Whether the edits stay in the sandboxes, or go as well. */
export type UndoKind = "undoCommit" | "rollback";

/**
 * Takes the commits of these sandboxes back together: every resource is as before its commit, or every one stays as it
 * is. The members are committed, and given in the order of their commit. The caller holds the plan. Members that could
 * only be committed apart, by best effort, are taken back apart, after all were looked at.
 * @throws SandboxError of the member that stands in the way; nothing has moved then, except for members apart.
 */
export async function undoTogether(
  engine: Engine,
  members: readonly PlanMember[],
  operation: UndoKind,
  options: CallOptions,
): Promise<void> {
  const backwards = members.toReversed();
  for (const member of backwards) refuseIrrevocable(member);
  const empty = backwards.filter(({ record }) => record.lastResult?.noop === true);
  const real = backwards.filter(({ record }) => record.lastResult?.noop !== true);
  for (const { guarded, record } of real) await settleLastCommit(guarded, record);
  const apart = apartOf(members, real);
  if (apart.length > 0) for (const member of real) await requireUndo(member);
  for (const member of apart) await undoReal(engine, [member], operation, options);
  const together = real.filter((member) => !apart.includes(member));
  if (together.length > 0) await undoReal(engine, together, operation, options);
  const status = operation === "rollback" ? "ROLLED_BACK" : "ACTIVE";
  for (const { guarded, record } of empty) await undoNothing(guarded, record, status);
}

/** Only one group can carry a decision; the commit had the same members apart. */
function apartOf(members: readonly PlanMember[], real: readonly PlanMember[]): PlanMember[] {
  const blocking = new Set(promiseOf(members).blockers.map(({ sandboxId }) => sandboxId));
  return real.filter(
    ({ capabilities, sandboxId }) =>
      classOf(capabilities) === "deciding" && blocking.has(sandboxId),
  );
}

async function requireUndo({ guarded, record }: PlanMember): Promise<void> {
  const obstacle = await undoObstacle(guarded, record);
  if (obstacle !== null) throw obstacle;
}

function refuseIrrevocable({ guarded, record, capabilities }: PlanMember): void {
  if (capabilities.undoCommit) return;
  const message = `The strategy ${guarded.name} cannot take a commit back`;
  throw inContext(rollbackError("notUndoable", message), record.ref);
}

async function undoReal(
  engine: Engine,
  members: readonly PlanMember[],
  operation: UndoKind,
  options: CallOptions,
): Promise<void> {
  const ulid = engine.ids.next();
  const planId = members[0]?.record.ref.planId ?? "";
  const begun = await begin(engine, members, operation, ulid);
  const progress = noProgress();
  try {
    const parts = begun.map(({ guarded, record, capabilities }) => ({
      strategy: guarded.raw,
      ref: record.ref,
      location: record.resource.location,
      record: null,
      undoes: undoneCommit(engine, record),
      ...WAYS[classOf(capabilities)],
    }));
    await runTransaction(engine, { ulid, kind: "undo", planId, members: parts, options, progress });
  } catch (thrown) {
    const failed = begun[progress.failedAt ?? -1];
    const error = asRollbackError(thrown);
    const known = failed === undefined ? error : inContext(error, failed.record.ref);
    await settleFailure(engine, begun, ulid, known);
  }
  const isInPlace = progress.failedAt === null;
  for (const { guarded, record } of begun) await refusePending(guarded, record, isInPlace);
  for (const { guarded, record } of begun) {
    const undone = await markUndone(guarded, record);
    if (operation === "rollback") await resetWorkspace(guarded, undone, options);
    else await moveRecord(engine, undone, "ACTIVE", TAKEN_BACK);
  }
}

/** How members of each class are taken back together. */
const WAYS: Readonly<Partial<Record<MemberClass, Pick<IntentMember, "way">>>> = {
  undoable: { way: "late" },
  deciding: { way: "deciding" },
};

const TAKEN_BACK = {
  inFlight: null,
  lastTransaction: null,
  lastResult: null,
  lastError: null,
} as const;

async function begin(
  engine: Engine,
  members: readonly PlanMember[],
  operation: UndoKind,
  transaction: string,
): Promise<PlanMember[]> {
  const records = await moveRecords(
    engine,
    members.map(({ record }) => record),
    "ROLLING_BACK",
    ({ status: from }) => ({
      inFlight: { operation, from, transaction, undone: false, together: true },
    }),
  );
  return members.map((member, at) => ({ ...member, record: records[at] ?? member.record }));
}

/** An undo that came to its end all the same is none that failed. */
async function settleFailure(
  engine: Engine,
  begun: readonly PlanMember[],
  ulid: string,
  thrown: SandboxError,
): Promise<void> {
  if (engine.log.outcomeOf(ulid)?.outcome === "committed") return;
  const isSettled = !engine.log.isRunning(ulid);
  const error = isSettled ? thrown : unsettledUndo(thrown, engine.log.folderOf(ulid));
  for (const { record } of begun) {
    if (isSettled) await stayCommitted(engine, record, error);
    else await moveIfPossible(engine, record, "ERRORED", { lastError: error.toJSON() });
  }
  const planId = begun[0]!.record.ref.planId;
  engine.emit("plan.undoFailed", { planId, reason: describeThrown(error) }, "warning");
  throw error;
}

function stayCommitted(
  engine: Engine,
  record: SandboxRecord,
  error: SandboxError | null,
): Promise<void> {
  const changes = { inFlight: null, lastError: error?.toJSON() ?? null };
  return moveIfPossible(engine, record, "COMMITTED", changes);
}
