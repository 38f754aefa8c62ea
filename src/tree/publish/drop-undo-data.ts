import { RecordDamagedError } from "../../errors/index.ts";
import { isErrno } from "../../platform/native/index.ts";
import { dropStage } from "./abandon-stage.ts";
import { readApplied, shelvedBy } from "./applied-record.ts";
import { openContext } from "./publish-context.ts";
import type { PublishPlace } from "./step.ts";

/**
 * Removes the undo data of a commit, unless it holds versions that somebody else made, which nobody has anywhere else.
 * Idempotent, also after one that was ended half way. Gives whether nothing is left.
 */
export function dropUndoData(place: PublishPlace): boolean {
  return !holdsForeign(place) && dropStage(place).length === 0;
}

function holdsForeign(place: PublishPlace): boolean {
  try {
    using context = openContext(place);
    const applied = readApplied(context) ?? [];
    return context.list.steps.some((step, at) => {
      const own = applied[at];
      return own !== undefined && shelvedBy(context, step, own).some(({ keptAt }) => keptAt);
    });
  } catch (error) {
    if (isErrno(error, "ENOENT") || error instanceof RecordDamagedError) return false;
    throw error;
  }
}
