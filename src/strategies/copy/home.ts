import { mkdir, realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { SandboxCreationError } from "../../errors/index.ts";
import { displayPath, isWithin, toBytePath } from "../../model/byte-path.ts";
import { workspaceHome } from "../../tree/strategy/place.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";

const WRITABLE_BY_ALL = 0o002;
const STICKY = 0o1000;

/**
 * Makes the private folder for the workspace where the resource wants it.
 * @throws SandboxCreationError (`SANDBOX_CREATION`, stage `workspaceDirectory`) for a directory that will not do.
 */
export async function makeHome(place: SandboxPlace): Promise<void> {
  const wanted = place.resource.properties?.["workspaceDirectory"];
  if (wanted === undefined) return;
  try {
    if (typeof wanted !== "string" || !isAbsolute(wanted))
      throw new Error("it must be an absolute path");
    await check(wanted, place);
    await mkdir(displayPath(workspaceHome(place)), { mode: 0o700 });
  } catch (cause) {
    const text = JSON.stringify(wanted) ?? "nothing";
    throw new SandboxCreationError(`No workspace can be made in ${text}`, {
      operation: "create",
      hint: "Let workspaceDirectory name an existing directory outside the resource, or leave it out.",
      data: { stage: "workspaceDirectory", residue: [] },
      cause,
    });
  }
}

async function check(directory: string, place: SandboxPlace): Promise<void> {
  const isInside = isWithin(toBytePath(await realpath(directory)), place.root);
  if (isInside && place.only === null) throw new Error("it lies inside the resource");
  const { mode } = await stat(directory);
  const isOpen = (mode & WRITABLE_BY_ALL) !== 0 && (mode & STICKY) === 0;
  if (isOpen) throw new Error("everybody may rename what is in it");
}
