import {
  SandboxCreationError,
  SandboxError,
  describeThrown,
  errnoHint,
} from "../../errors/index.ts";
import { displayPath } from "../../model/byte-path.ts";
import type { SandboxPlace, Workspace } from "../workspace.ts";
import { removePlace } from "./place.ts";

/**
 * Runs what fills the place of a new sandbox. When it fails nothing of the sandbox remains.
 * @throws SandboxError as it was thrown; SandboxCreationError (`SANDBOX_CREATION`) for anything else.
 */
export async function fillPlace<T>(
  workspace: Pick<Workspace, "destroy">,
  place: SandboxPlace,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const residue = await remove(workspace, place);
    if (cause instanceof SandboxError) throw cause;
    throw new SandboxCreationError(`The sandbox could not be made: ${describeThrown(cause)}`, {
      operation: "create",
      hint: errnoHint(cause),
      cause,
      data: { stage: "workspace", residue },
    });
  }
}

/** Removes what a failed creation made; the failure itself is what the caller hears of. */
async function remove(
  workspace: Pick<Workspace, "destroy">,
  place: SandboxPlace,
): Promise<readonly string[]> {
  try {
    const remaining = await workspace.destroy(place);
    if (remaining.length === 0) removePlace(place);
    return remaining;
  } catch {
    return [displayPath(place.directory)];
  }
}
