import { CheckpointError, SandboxError, describeThrown } from "../../errors/index.ts";
import type {
  KeptMember,
  PlanCheckpointRecord,
  PlanCheckpoints,
} from "../../journal/plan-checkpoints.ts";
import type { SandboxRecord } from "../../journal/sandbox-record.ts";
import { asCheckpointError } from "../failures.ts";
import { moveIfPossible, updateRecord } from "../record-moves.ts";
import { takeBackRestore } from "./take-back-restore.ts";
import { inContext } from "../with-sandbox.ts";
import { type PlanCheckpointCall, replaceList } from "./plan-checkpoint-call.ts";
import type { PlanMember } from "../plan/plan-members.ts";

/** A sandbox that is marked as being restored with its plan. */
interface Marked {
  readonly member: PlanMember;
  readonly record: SandboxRecord;
  /** The wanted state. */
  readonly target: string;
  /** The state before. */
  readonly before: string;
  /** The sandbox's own checkpoint that the wanted state goes back to. */
  readonly currentCheckpoint: string | null;
}

/** Why not all members could be restored. */
interface Failure {
  readonly thrown: unknown;
  /** What the caller is told, of all members. */
  readonly error: unknown;
  /** Number of the member that threw; past the last when it was none of them. */
  readonly at: number;
}

/**
 * Restores all members or none. Each is marked first, and goes back as long as it is marked and the plan's list does not
 * name this restore; the list names it in one step, after the last of them. `list` ends with the state before.
 */
export async function restoreMembers(
  call: PlanCheckpointCall,
  members: readonly PlanMember[],
  list: PlanCheckpoints,
  target: PlanCheckpointRecord,
): Promise<PlanCheckpoints> {
  const { engine, options } = call;
  const restore = engine.ids.next();
  const marked = await markAll(members, list, target, restore);
  for (const [at, { member, record, target: storage }] of marked.entries()) {
    try {
      await member.guarded.raw.restoreCheckpoint(record.ref, storage, options);
    } catch (thrown) {
      const { checkpointId, operation } = call;
      const error = inContext(asCheckpointError(thrown, checkpointId, operation), record.ref);
      throw await takeBack(call, marked, list, { thrown, error, at });
    }
  }
  const decided = { ...list, lastRestore: restore, currentCheckpoint: target.id };
  const failed = await replaceList(call, list, decided);
  if (failed?.isAsBefore === true) {
    const { thrown } = failed;
    throw await takeBack(call, marked, list, { thrown, error: thrown, at: marked.length });
  }
  // The marks stay, and whoever comes next goes by what the list then says.
  if (failed !== null) throw inDoubt(call, failed.thrown);
  for (const { record, currentCheckpoint } of marked)
    await moveIfPossible(engine, record, "ACTIVE", { inFlight: null, currentCheckpoint });
  return decided;
}

async function markAll(
  members: readonly PlanMember[],
  list: PlanCheckpoints,
  target: PlanCheckpointRecord,
  restore: string,
): Promise<Marked[]> {
  const marked: Marked[] = [];
  try {
    for (const member of members) {
      const { record, guarded } = member;
      const wanted = keptOf(target, member);
      const before = keptOf(list.checkpoints.at(-1), member);
      const known = record.checkpoints.some(({ id }) => id === wanted.currentCheckpoint);
      const currentCheckpoint = known ? wanted.currentCheckpoint : null;
      const inFlight = {
        operation: "restoreCheckpoint",
        from: record.status,
        storage: before.storage,
        ofPlan: { restore, currentCheckpoint },
      } as const;
      marked.push({
        member,
        record: await updateRecord(guarded.engine, record, { inFlight }),
        target: wanted.storage,
        before: before.storage,
        currentCheckpoint,
      });
    }
    return marked;
  } catch (thrown) {
    for (const { record, member } of marked)
      await moveIfPossible(member.guarded.engine, record, record.status, { inFlight: null });
    throw thrown;
  }
}

/** Takes the restored members back and the marks from all of them; gives the error to be thrown. */
async function takeBack(
  { checkpointId }: PlanCheckpointCall,
  marked: readonly Marked[],
  list: PlanCheckpoints,
  failure: Failure,
): Promise<unknown> {
  const id = list.checkpoints.at(-1)?.id ?? "";
  let answer = failure.error;
  for (const [at, { member, record, before: storage }] of marked.entries()) {
    const isOwn = at === failure.at;
    const thrown = isOwn ? failure.thrown : failure.error;
    const isAsBefore = at > failure.at || (isOwn && thrown instanceof SandboxError);
    const failed = { checkpointId, thrown, before: { id, storage }, isAsBefore };
    const { error, isStuck } = await takeBackRestore(member.guarded, record, failed);
    if (isStuck) answer = error;
  }
  return answer;
}

function inDoubt({ checkpointId, operation }: PlanCheckpointCall, cause: unknown): CheckpointError {
  const message = `It could not be recorded whether the plan is restored: ${describeThrown(cause)}`;
  return new CheckpointError(message, {
    data: { checkpointId, reason: "failed" },
    operation,
    hint: "Remove the cause and run recover: it brings all sandboxes to the same side.",
    cause,
  });
}

function keptOf(checkpoint: PlanCheckpointRecord | undefined, member: PlanMember): KeptMember {
  const kept = checkpoint?.members.find(({ sandboxId }) => sandboxId === member.sandboxId);
  if (kept === undefined)
    throw new Error(`the sandbox ${member.sandboxId} is not in the checkpoint`);
  return kept;
}
