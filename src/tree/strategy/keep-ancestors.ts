import { lookUpReal } from "../conflicts.ts";
import { sameIdentity } from "../tree-entry.ts";
import type { OpenPlace, Workspace } from "../workspace.ts";
import { forgetAncestors, keepPreImage } from "./ancestors.ts";

/** Larger files are rarely text that anybody would merge. */
const MOST_BYTES = 2 ** 20;

/**
 * Keeps copies of the real files that the sandbox has edited, as long as they are what it began with: a merge with what
 * others do to them later needs that version. Gives what went wrong, which only costs such merges; null when nothing.
 */
export async function keepAncestors(workspace: Workspace, place: OpenPlace): Promise<unknown> {
  try {
    const { changes } = await workspace.changes(place);
    const check = await workspace.baseCheck(place);
    for (const { path, before, after } of changes) {
      if (before?.type !== "file" || after?.type !== "file" || before.size > MOST_BYTES) continue;
      const { real, parents } = lookUpReal(place.root, path);
      if (real === null || check.verify(path, real, before, parents, false) !== null) continue;
      await keepPreImage(place, path);
      const now = lookUpReal(place.root, path).real;
      // Somebody wrote while it was copied: then it may be neither version.
      if (now === null || !sameIdentity(now, real)) await forgetAncestors(place, [path]);
    }
    return null;
  } catch (thrown) {
    return thrown;
  }
}
