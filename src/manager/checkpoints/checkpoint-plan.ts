import type { CallOptions, CheckpointOptions } from "../../contract/strategy.ts";
import type { PlanCheckpointRecord, PlanCheckpoints } from "../../journal/plan-checkpoints.ts";
import {
  automaticId,
  automaticNote,
  checkpointError,
  findCheckpoint,
  listWith,
  listWithout,
  refuseTaken,
  surplusOf,
} from "./checkpoint-list.ts";
import type { CheckpointDescription } from "../describe-sandbox.ts";
import type { Engine } from "../engine.ts";
import { inContext } from "../with-sandbox.ts";
import {
  type PlanCheckpointCall,
  dropKept,
  keepAll,
  replaceList,
  withPlanCheckpoints,
} from "./plan-checkpoint-call.ts";
import type { PlanMember } from "../plan/plan-members.ts";
import { restoreMembers } from "./restore-members.ts";

/** One checkpoint of a plan. */
export interface PlanCheckpointDescription extends CheckpointDescription {
  /** Ids of the resources whose sandboxes it holds; a restore needs exactly these. */
  readonly resources: readonly string[];
  /** Whether the plan was made from it or brought back to it last. */
  readonly isCurrent: boolean;
}

/** The checkpoints of a plan in the order of their creation. Changes nothing. */
export function listPlanCheckpoints(engine: Engine, planId: string): PlanCheckpointDescription[] {
  const { checkpoints, currentCheckpoint } = engine.store.planCheckpoints(planId);
  return checkpoints.map(({ members, ...told }) => ({
    ...told,
    resources: members.map(({ resourceId }) => resourceId),
    isCurrent: told.id === currentCheckpoint,
  }));
}

/**
 * Keeps the present state of all sandboxes of a plan under one id, at one moment: no call gets between. A failure of one
 * leaves no checkpoint anywhere.
 * @throws CheckpointError, SandboxStateError when one sandbox cannot take part.
 */
export function checkpointPlan(
  engine: Engine,
  planId: string,
  checkpointId: string,
  options: CheckpointOptions = {},
): Promise<void> {
  const call = { engine, planId, operation: "checkpoint", checkpointId, options } as const;
  return withPlanCheckpoints(call, async (members, list) => {
    refuseTaken(list, checkpointId);
    await keepUnder(call, members, list, { id: checkpointId, note: options.note });
    engine.emit("plan.checkpointed", { planId, checkpointId });
  });
}

/**
 * Brings all sandboxes of a plan back to a kept state, or none, also when the process is killed at any moment. The state
 * before is kept automatically, so that a restore can itself be undone.
 * @throws CheckpointError, SandboxStateError; every sandbox is then as before the call, or becomes so by `recover`.
 */
export function restorePlan(
  engine: Engine,
  planId: string,
  checkpointId: string,
  options: CallOptions = {},
): Promise<void> {
  const call = { engine, planId, operation: "restoreCheckpoint", checkpointId, options } as const;
  return withPlanCheckpoints(call, async (members, list) => {
    const target = findCheckpoint(list, checkpointId);
    refuseOtherMembers(members, target);
    const id = automaticId(engine);
    const kept = await keepUnder(call, members, list, { id, ...automaticNote(checkpointId) });
    const restored = await restoreMembers(call, members, kept, target);
    await dropOldest(call, members, restored);
    engine.emit("plan.restored", { planId, checkpointId });
  });
}

/** Drops one checkpoint of a plan, in all sandboxes that are still there. */
export function deletePlanCheckpoint(
  engine: Engine,
  planId: string,
  checkpointId: string,
): Promise<void> {
  const call = { engine, planId, operation: "checkpoint", checkpointId, options: {} } as const;
  return withPlanCheckpoints(call, async (members, list) => {
    const target = findCheckpoint(list, checkpointId);
    const keeper = members.find(({ guarded }) => guarded.raw.deleteCheckpoint === undefined);
    if (keeper !== undefined)
      throw inContext(checkpointError(checkpointId, "unsupported"), keeper.record.ref);
    await drop(call, members, list, [target]);
    engine.emit("plan.checkpointDeleted", { planId, checkpointId });
  });
}

/** Lets every strategy keep its state, then lists all of it in one step. */
async function keepUnder(
  call: PlanCheckpointCall,
  members: readonly PlanMember[],
  before: PlanCheckpoints,
  named: { readonly id: string; readonly note?: string | undefined },
): Promise<PlanCheckpoints> {
  const kept = await keepAll(call, members);
  const list = { ...before, ...listWith(call.engine, before, named, { members: kept }) };
  const failed = await replaceList(call, before, list);
  if (failed === null) return list;
  // A name without bytes would be a promise that cannot be kept.
  if (failed.isAsBefore) await dropKept(members, kept);
  throw failed.thrown;
}

/** Refuses a checkpoint of other sandboxes than the plan now has. */
export function refuseOtherMembers(
  members: readonly PlanMember[],
  { id, members: kept }: PlanCheckpointRecord,
): void {
  const now = members.map(({ sandboxId }) => sandboxId).toSorted();
  const then = kept.map(({ sandboxId }) => sandboxId).toSorted();
  if (now.join() !== then.join()) throw checkpointError(id, "members");
}

async function dropOldest(
  call: PlanCheckpointCall,
  members: readonly PlanMember[],
  list: PlanCheckpoints,
): Promise<void> {
  if (members.some(({ guarded }) => guarded.raw.deleteCheckpoint === undefined)) return;
  const surplus = surplusOf(call.engine, list);
  if (surplus.length > 0) await drop(call, members, list, surplus);
}

/** Forgets first: a name without bytes would be a promise that cannot be kept, bytes without a name are only space. */
async function drop(
  call: PlanCheckpointCall,
  members: readonly PlanMember[],
  list: PlanCheckpoints,
  dropped: readonly PlanCheckpointRecord[],
): Promise<void> {
  const failed = await replaceList(call, list, { ...list, ...listWithout(list, dropped) });
  if (failed !== null) throw failed.thrown;
  await dropKept(
    members,
    dropped.flatMap((one) => one.members),
  );
}
