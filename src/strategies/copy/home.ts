import { mkdir, realpath } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";
import { SandboxCreationError } from "../../errors/index.ts";
import { displayPath, isWithin, toBytePath } from "../../model/byte-path.ts";
import { workspaceHome } from "../../tree/strategy/place.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";

/**
 * Makes the private folder for the workspace where the resource wants it.
 * @throws SandboxCreationError when the wanted directory does not exist or lies inside the resource.
 */
export async function makeHome(place: SandboxPlace): Promise<void> {
  const home = workspaceHome(place);
  if (home === place.directory) return;
  const path = displayPath(home);
  try {
    if (!isAbsolute(path)) throw new Error("it must be an absolute path");
    const parent = toBytePath(await realpath(dirname(path)));
    if (isWithin(parent, place.root)) throw new Error("it lies inside the resource");
    await mkdir(path, { mode: 0o700 });
  } catch (cause) {
    throw new SandboxCreationError(`No workspace can be made in ${dirname(path)}`, {
      operation: "create",
      hint: "Let workspaceDirectory name an existing directory outside the resource, or leave it out.",
      data: { stage: "workspaceDirectory", residue: [] },
      cause,
    });
  }
}
