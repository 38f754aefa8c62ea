import { type RelativePath, isWithin } from "../model/byte-path.ts";
import { pathError } from "./beneath.ts";

/**
 * The changes at these paths and below them.
 * @throws SandboxPathError (`unchanged`) for a path at and below which there is none.
 */
export function selectChanges<T extends { readonly path: RelativePath }>(
  changes: readonly T[],
  paths: readonly RelativePath[],
): T[] {
  for (const path of paths) {
    if (!changes.some((change) => isWithin(change.path, path))) throw pathError(path, "unchanged");
  }
  return changes.filter((change) => paths.some((path) => isWithin(change.path, path)));
}
