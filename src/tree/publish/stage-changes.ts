import { SandboxCommitError, SandboxError } from "../../errors/index.ts";
import { displayPath } from "../../model/byte-path.ts";
import { abandonStage } from "./abandon-stage.ts";
import type { StageRequest, StageSummary } from "./stage-request.ts";
import { Staging } from "./staging.ts";

/**
 * Makes everything ready so that publishing is nothing but renames: complete entries on the resource's file system,
 * and a durable list of steps. Nothing below the root is changed. On failure moved sources are back in their place and
 * the stage is gone.
 * @throws InsufficientSpaceError before anything is written; PathEscapeError, SandboxPathError for what must not be
 *   published; SandboxCommitError (`SANDBOX_COMMIT`) for everything else, with the system error as cause. Its
 *   `undoDataAt` is null unless the stage could not be removed: then `abandonStage` has to be repeated.
 */
export function stageChanges(request: StageRequest): StageSummary {
  const staging = new Staging(request);
  try {
    return staging.run();
  } catch (thrown) {
    const isGone = !staging.isMade || takeBack(request);
    if (thrown instanceof SandboxError && isGone) throw thrown;
    throw new SandboxCommitError("the changes could not be staged; the resource is untouched", {
      operation: "commit",
      cause: thrown,
      data: {
        originalRestored: true,
        undoDataAt: isGone ? null : displayPath(request.stage),
        failedPath: staging.current === null ? null : displayPath(staging.current),
        appliedCount: 0,
      },
    });
  }
}

function takeBack(request: StageRequest): boolean {
  try {
    const { stuck, remaining } = abandonStage(request);
    return stuck.length === 0 && remaining.length === 0;
  } catch {
    // The first failure is the one to report; what stays is named in it and waits for recovery.
    return false;
  }
}
