import type { CallOptions } from "../../contract/strategy.ts";
import type { KeptMember, PlanCheckpoints } from "../../journal/plan-checkpoints.ts";
import { checkpointError, refuseMalformed } from "./checkpoint-list.ts";
import type { Engine } from "../engine.ts";
import { asCheckpointError } from "../failures.ts";
import { holdSignals } from "../hold-signals.ts";
import { assertAllowed } from "../known-record.ts";
import { withQuietPlan } from "../plan-lock.ts";
import { removeOrTell } from "../remove-or-tell.ts";
import { needsRepair, repairWorkspace } from "../repair-workspace.ts";
import { inContext, refuseAborted, tracked } from "../with-sandbox.ts";
import { type PlanMember, planMembers, unknownPlan } from "../plan/plan-members.ts";

/** A call on the checkpoints of a plan. */
export interface PlanCheckpointCall {
  readonly engine: Engine;
  readonly planId: string;
  readonly operation: "checkpoint" | "restoreCheckpoint";
  readonly checkpointId: string;
  readonly options: CallOptions;
}

/**
 * Runs the body of a call with the plan locked, every sandbox of it ready, and the list as it is under the lock. Nothing
 * is begun when one sandbox cannot take part.
 */
export async function withPlanCheckpoints(
  call: PlanCheckpointCall,
  body: (members: readonly PlanMember[], list: PlanCheckpoints) => Promise<void>,
): Promise<void> {
  const { engine, planId, operation, checkpointId, options } = call;
  await tracked(engine, async () => {
    try {
      refuseAborted(options.signal, operation);
      refuseMalformed(checkpointId);
      const done = await withQuietPlan(engine, planId, options.signal, async () => {
        using _hold = holdSignals();
        const members = await readyMembers(call);
        await body(members, engine.store.planCheckpoints(planId));
        return true;
      });
      if (done === null) throw unknownPlan(planId, operation);
    } catch (thrown) {
      throw asCheckpointError(thrown, checkpointId, operation).inContext({ planId });
    }
  });
}

/** All sandboxes of the plan, in a status that allows the call, none with an interrupted restore. */
async function readyMembers(call: PlanCheckpointCall): Promise<PlanMember[]> {
  const { engine, planId, operation, checkpointId } = call;
  const members = await planMembers(engine, planId);
  for (const { record, capabilities } of members) {
    if (capabilities.checkpoints === "none")
      throw inContext(checkpointError(checkpointId, "unsupported"), record.ref);
    assertAllowed(record, operation);
  }
  return repaired(members);
}

/** The same members, those with a workspace that was known to be wrong rebuilt. */
export async function repaired(members: readonly PlanMember[]): Promise<PlanMember[]> {
  const ready: PlanMember[] = [];
  for (const member of members) {
    const { guarded, record } = member;
    if (needsRepair(guarded.engine, record))
      ready.push({ ...member, record: await repairWorkspace(guarded, record) });
    else ready.push(member);
  }
  return ready;
}

/** Lets every strategy keep the present state, or none: what was kept before a failure is dropped again. */
export async function keepAll(
  {
    checkpointId,
    operation,
    options,
  }: Pick<PlanCheckpointCall, "checkpointId" | "operation" | "options">,
  members: readonly PlanMember[],
): Promise<readonly KeptMember[]> {
  const kept: KeptMember[] = [];
  for (const { guarded, record } of members) {
    const { ref, currentCheckpoint } = record;
    const storage = guarded.engine.ids.next();
    try {
      await guarded.raw.checkpoint(ref, storage, options);
    } catch (thrown) {
      await dropKept(members, kept);
      throw inContext(asCheckpointError(thrown, checkpointId, operation), ref);
    }
    const { sandboxId, resourceId } = ref;
    kept.push({ sandboxId, resourceId, storage, currentCheckpoint });
  }
  return kept;
}

/** Drops states that no list names any more. What stays is only space, and goes with the sandbox. */
export async function dropKept(
  members: readonly PlanMember[],
  kept: readonly KeptMember[],
): Promise<void> {
  for (const { sandboxId, storage } of kept) {
    const member = members.find(({ record }) => record.ref.sandboxId === sandboxId);
    if (member === undefined) continue;
    const { guarded, record } = member;
    await removeOrTell(guarded.engine, `checkpoint ${storage}`, () =>
      guarded.raw.deleteCheckpoint?.(record.ref, storage),
    );
  }
}

/** A list that could not be replaced. */
export interface NotReplaced {
  readonly thrown: unknown;
  /** Whether the list before is proven to be in its place. */
  readonly isAsBefore: boolean;
}

/** Replaces the list of a plan durably; null when that is done. */
export async function replaceList(
  { engine, planId }: PlanCheckpointCall,
  before: PlanCheckpoints,
  after: PlanCheckpoints,
): Promise<NotReplaced | null> {
  try {
    await engine.store.putPlanCheckpoints(planId, after);
    return null;
  } catch (thrown) {
    // What failed to be written may still be there without being sure to stay.
    const isAsBefore = await engine.store.putPlanCheckpoints(planId, before).then(
      () => true,
      () => false,
    );
    return { thrown, isAsBefore };
  }
}
