import { matchesGlob } from "./glob.ts";
import { type BytePath, type RelativePath, parentOf } from "../model/byte-path.ts";
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
 * holds something left out keeps its own change, unless that would take away what stays in the real one.
 */
export function filterPublished(
  changes: readonly TreeChange[],
  exclude: readonly string[],
): FilteredChanges {
  const isLeft = ({ path }: TreeChange): boolean => !isPublished(path, exclude);
  const staying = new Set<string>();
  for (const change of changes) {
    if (change.before === null || !isLeft(change)) continue;
    for (let path = parentOf(change.path); path !== ""; path = parentOf(path)) staying.add(path);
  }
  const isNeeded = ({ path, before, after }: TreeChange): boolean =>
    before?.type === "directory" && after?.type !== "directory" && staying.has(path);
  const published: TreeChange[] = [];
  const left: RelativePath[] = [];
  for (const change of changes) {
    if (isLeft(change) || isNeeded(change)) left.push(change.path);
    else published.push(change);
  }
  return { published, left };
}

/** Whether a change at this path may reach the real tree. */
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
