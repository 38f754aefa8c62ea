import { matchesGlob } from "./glob.ts";
import type { BytePath, RelativePath } from "../model/byte-path.ts";
import type { TreeChange } from "./tree-change.ts";

/** Lock files and sockets of git that only mean something to a running git. */
const GIT_VOLATILE = /(?:^|\/)\.git\/(?:.*\/)?(?:[^/]+\.lock|gc\.pid|fsmonitor--daemon[^/]*)$/;

/** Changes that are published, and those that stay in the sandbox. */
export interface FilteredChanges {
  readonly published: readonly TreeChange[];
  readonly left: readonly RelativePath[];
}

/**
 * Leaves out what never reaches the real tree: git's own lock files, and what `publish.exclude` names. A folder that
 * holds something left out keeps its own change.
 */
export function filterPublished(
  changes: readonly TreeChange[],
  exclude: readonly string[],
): FilteredChanges {
  const published: TreeChange[] = [];
  const left: RelativePath[] = [];
  for (const change of changes) {
    if (isPublished(change.path, exclude)) published.push(change);
    else left.push(change.path);
  }
  return { published, left };
}

/** Whether a change at this path reaches the real tree. */
export function isPublished(path: BytePath, exclude: readonly string[]): boolean {
  return !GIT_VOLATILE.test(path) && !exclude.some((pattern) => isExcluded(path, pattern));
}

/** Whether the path, or a folder above it, matches the pattern; a pattern without a slash matches at any depth. */
function isExcluded(path: BytePath, pattern: string): boolean {
  const parts = path.split("/");
  return parts.some((_, at) => {
    const candidate = parts.slice(0, at + 1).join("/");
    const subject = pattern.includes("/") ? candidate : (parts[at] ?? "");
    return matchesGlob(subject, pattern.replace(/^\/|\/$/g, ""));
  });
}
