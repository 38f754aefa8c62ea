import { OPEN, close, openAt, syncfs, throwUnlessErrno } from "../../platform/native/index.ts";
import { type RemainingEntry, removeTree } from "../remove-tree.ts";
import { type MovedSource, readMovePlan, returnMoves } from "./moved-sources.ts";
import { type OpenStage, openParent, openStage } from "./open-place.ts";
import { isMarkedShelved } from "./shelved-mark.ts";
import type { PublishPlace } from "./step.ts";

/** What was left of a stage that should be gone. */
export interface AbandonedStage {
  /** Files that could not go back because their place is taken or gone; the stage is kept for them. */
  readonly stuck: readonly MovedSource[];
  readonly remaining: readonly RemainingEntry[];
}

/**
 * Takes a stage back before anything was published: moved sources return to the sandbox, everything else is removed.
 * Idempotent, also for a stage that was never finished or does not exist.
 * @throws RecordDamagedError when the list of moved sources cannot be trusted; nothing is removed then.
 */
export function abandonStage(place: PublishPlace): AbandonedStage {
  const stuck = returnSources(place);
  return { stuck, remaining: stuck.length > 0 ? [] : dropStage(place) };
}

/**
 * Removes a stage with all undo data in it, unless it holds versions that somebody else made. Idempotent; follows no
 * link and enters no other mount. Gives what could not be removed.
 */
export function dropStage({ stage }: Pick<PublishPlace, "stage">): RemainingEntry[] {
  try {
    const { fd, name } = openParent(stage);
    try {
      return holdsShelved(fd, name) ? [] : removeTree(fd, name);
    } finally {
      close(fd);
    }
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR");
    return [];
  }
}

function holdsShelved(parentFd: number, name: string): boolean {
  const fd = openAt(parentFd, name, OPEN.readOnly | OPEN.directory | OPEN.noFollow);
  try {
    return isMarkedShelved(fd);
  } finally {
    close(fd);
  }
}

function returnSources(place: PublishPlace): MovedSource[] {
  using stage = openIfThere(place);
  if (stage === null) return [];
  const plan = readMovePlan(stage.fd);
  if (plan.moves.length === 0) return [];
  const stuck = returnMoves(plan, stage.entries);
  // The way back must be on disk before the plan that describes it goes.
  syncfs(stage.fd);
  return stuck;
}

function openIfThere(place: PublishPlace): OpenStage | null {
  try {
    return openStage(place);
  } catch (error) {
    throwUnlessErrno(error, "ENOENT");
    return null;
  }
}
