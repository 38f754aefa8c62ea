import { type RelativePath, ancestorsOf, isWithinAny } from "../model/byte-path.ts";
import { pathError } from "./beneath.ts";

/**
 * The changes at these paths and below them.
 * @throws SandboxPathError (`unchanged`) for a path at and below which there is none.
 */
export function selectChanges<T extends { readonly path: RelativePath }>(
  changes: readonly T[],
  paths: readonly RelativePath[],
): T[] {
  const changed = new Set(changes.flatMap(({ path }) => [path, ...ancestorsOf(path)]));
  for (const path of paths) if (!changed.has(path)) throw pathError(path, "unchanged");
  const wanted = new Set(paths);
  return changes.filter(({ path }) => isWithinAny(path, wanted));
}
