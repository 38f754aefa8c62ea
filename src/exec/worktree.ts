import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The name of a linked worktree among those of its repository, where the repository is the very place that the worktree
 * is to be shown at; null for everything else.
 */
export function hiddenWorktree(location: string, workspace: string): string | null {
  const prefix = `gitdir: ${join(location, ".git", "worktrees")}/`;
  try {
    const text = readFileSync(join(workspace, ".git"), "utf8").trimEnd();
    const name = text.startsWith(prefix) ? text.slice(prefix.length) : "";
    return name === "" || name.includes("/") ? null : name;
  } catch {
    // No worktree: nothing has to be shown elsewhere.
    return null;
  }
}
