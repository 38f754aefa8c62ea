import { existsSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import type { StorageArea } from "../contract/host.ts";
import { throwUnlessErrno } from "../platform/native/native-error.ts";
import { forgetArea, listAreas } from "./area-list.ts";
import { type AreaOptions, findArea } from "./storage-area.ts";

/** The folder of an area that holds a folder for each sandbox. */
const SANDBOXES = "sandboxes";

/** An area that is wanted for a look only. */
export type TrialArea = StorageArea & AsyncDisposable;

/**
 * Finds the area of a location exactly as a new sandbox would. One that was made for this call alone, and still holds
 * nothing when it is disposed of, goes again.
 * @throws as `findArea` does.
 */
export async function trialArea(location: string, options: AreaOptions): Promise<TrialArea> {
  const known = listAreas(options.stateDirectory).map(({ path }) => path);
  const area = await findArea(location, options);
  return {
    ...area,
    async [Symbol.asyncDispose]() {
      if (!known.includes(area.path) && removeEmpty(area.path)) {
        await forgetArea(options.stateDirectory, area.path);
      }
    },
  };
}

function removeEmpty(path: string): boolean {
  try {
    // The trial of a strategy leaves the empty folder that sandboxes lie in.
    if (existsSync(join(path, SANDBOXES))) rmdirSync(join(path, SANDBOXES));
    rmdirSync(path);
    return true;
  } catch (error) {
    // Somebody has begun to use it meanwhile.
    throwUnlessErrno(error, "ENOTEMPTY", "EEXIST", "EBUSY", "ENOENT");
    return false;
  }
}
