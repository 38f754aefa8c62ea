import { CheckpointError } from "../../errors/index.ts";
import { type Engine, timestamp } from "../engine.ts";

/** What is known about any checkpoint, of a sandbox or of a plan. */
interface Listed {
  readonly id: string;
  /** UTC, ISO 8601. */
  readonly createdAt: string;
  readonly parentId: string | null;
  readonly note: string | null;
  readonly automatic: boolean;
}

/** The checkpoints of a sandbox or of a plan, in the order of their creation. */
export interface CheckpointList<One extends Listed = Listed> {
  readonly checkpoints: readonly One[];
  /** Id of the checkpoint that the present state goes back to. */
  readonly currentCheckpoint: string | null;
}

const PROPER_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** Ids that a restore gives to the states before it. */
const AUTOMATIC = "auto-";

/** Refuses what can be no id of a checkpoint. */
export function refuseMalformed(checkpointId: unknown): void {
  if (typeof checkpointId === "string" && PROPER_ID.test(checkpointId)) return;
  throw checkpointError(checkpointId, "malformed");
}

/** Refuses an id that a new checkpoint cannot have. */
export function refuseTaken({ checkpoints }: CheckpointList, checkpointId: string): void {
  if (checkpointId.startsWith(AUTOMATIC)) throw checkpointError(checkpointId, "malformed");
  if (checkpoints.some(({ id }) => id === checkpointId))
    throw checkpointError(checkpointId, "duplicate");
}

/** The checkpoint with this id. */
export function findCheckpoint<One extends Listed>(
  { checkpoints }: CheckpointList<One>,
  checkpointId: string,
): One {
  const found = checkpoints.find(({ id }) => id === checkpointId);
  if (found === undefined) throw checkpointError(checkpointId, "unknown");
  return found;
}

/** An id for the state before a restore. */
export function automaticId({ ids }: Engine): string {
  return `${AUTOMATIC}${ids.next()}`;
}

/** The note of the state before a restore. */
export function automaticNote(checkpointId: string): { readonly note: string } {
  return { note: `before the restore of ${checkpointId}` };
}

/** A list with one more checkpoint, made from the present state; `kept` is where the bytes are. */
export function listWith<Kept extends object>(
  engine: Engine,
  { checkpoints, currentCheckpoint }: CheckpointList<Listed & Kept>,
  { id, note }: { readonly id: string; readonly note?: string | undefined },
  kept: Kept,
): CheckpointList<Listed & Kept> {
  const made: Listed & Kept = {
    id,
    ...kept,
    createdAt: timestamp(engine),
    parentId: currentCheckpoint,
    note: note ?? null,
    automatic: id.startsWith(AUTOMATIC),
  };
  return { checkpoints: [...checkpoints, made], currentCheckpoint: id };
}

/** A list without some of its checkpoints; what came after one of them then comes after the one before it. */
export function listWithout<One extends Listed>(
  { checkpoints, currentCheckpoint }: CheckpointList<One>,
  dropped: readonly One[],
): CheckpointList<One> {
  const gone = new Map(dropped.map(({ id, parentId }) => [id, parentId]));
  const survivor = (id: string | null): string | null =>
    id !== null && gone.has(id) ? survivor(gone.get(id) ?? null) : id;
  return {
    checkpoints: checkpoints
      .filter(({ id }) => !gone.has(id))
      .map((checkpoint) => ({ ...checkpoint, parentId: survivor(checkpoint.parentId) })),
    currentCheckpoint: survivor(currentCheckpoint),
  };
}

/** The automatic checkpoints that are more than are kept, oldest first. */
export function surplusOf<One extends Listed>(
  { limits }: Engine,
  { checkpoints, currentCheckpoint }: CheckpointList<One>,
): readonly One[] {
  const automatic = checkpoints.filter(
    (checkpoint) => checkpoint.automatic && checkpoint.id !== currentCheckpoint,
  );
  return automatic.slice(0, Math.max(0, automatic.length - limits.automaticCheckpoints));
}

/** The error for a checkpoint that cannot be made or found. */
export function checkpointError(
  checkpointId: unknown,
  reason: CheckpointError["data"]["reason"],
): CheckpointError {
  const shown = String(checkpointId).slice(0, 200);
  const messages: Partial<Record<typeof reason, string>> = {
    malformed:
      "A checkpoint id has 1 to 100 letters, digits, dots, dashes and underscores and does not begin with auto-",
    duplicate: `There is a checkpoint ${shown} already`,
    unknown: `There is no checkpoint ${shown}`,
    unsupported: "This strategy keeps no checkpoints",
    members: `The plan has other sandboxes than when the checkpoint ${shown} was made`,
  };
  return new CheckpointError(messages[reason] ?? `The checkpoint ${shown} is ${reason}`, {
    data: { checkpointId: shown, reason },
    ...(reason === "duplicate" && { hint: "Choose another name." }),
    operation: "checkpoint",
  });
}
