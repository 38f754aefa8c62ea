import { rmSync } from "node:fs";
import { syncFolder } from "../../journal/durable-file.ts";
import type { BytePath } from "../../model/byte-path.ts";
import { LENT } from "../../tree/strategy/place.ts";
import { giveBack, lentLayers } from "./borrowed-layers.ts";
import { removeNames } from "./remove-names.ts";
import { NAMES, layersOf } from "./sandbox-files.ts";
import { STATE_FILE } from "./state.ts";
import { withTextPath } from "./text-path.ts";

/** Removes everything in the folder of a sandbox but the layers that others have borrowed; gives what stayed against our will. */
export async function removeSandbox(directory: BytePath): Promise<readonly string[]> {
  const borrowed = await giveBack(directory);
  if (borrowed.length > 0) return borrowed;
  const lent = await lentLayers(directory);
  if (lent.size === 0) return removeNames(directory, () => true);
  // First, and for good: from now on the last borrower removes the folder.
  await withTextPath(directory, async (path) => {
    rmSync(`${path}/${STATE_FILE}`, { force: true });
    await syncFolder(path);
  });
  const remaining = [
    ...(await removeNames(directory, (name) => name !== NAMES.layers && name !== LENT)),
    ...(await removeNames(layersOf(directory), (name) => !lent.has(name))),
  ];
  // All of them may have gone meanwhile, and found the sandbox still alive.
  const isNeeded = (await lentLayers(directory)).size > 0;
  return isNeeded ? remaining : removeNames(directory, () => true);
}
