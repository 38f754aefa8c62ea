import { existsSync, lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** A linked worktree among those of its repository. */
export interface LinkedWorktree {
  /** The git directory that all worktrees of the repository share. */
  readonly repository: string;
  readonly name: string;
}

/**
 * Which linked worktree a workspace is, of the repository whose checkout is at the location; null for everything else.
 * Where the repository lies is read from the checkout alone: a command can write what it likes into the workspace.
 */
export function linkedWorktree(location: string, workspace: string): LinkedWorktree | null {
  try {
    const repository = repositoryOf(location);
    const prefix = `gitdir: ${join(repository, "worktrees")}/`;
    const text = readFileSync(join(workspace, ".git"), "utf8").trimEnd();
    const name = text.startsWith(prefix) ? text.slice(prefix.length) : "";
    return name === "" || name.includes("/") ? null : { repository, name };
  } catch {
    // No worktree: nothing has to be shown elsewhere.
    return null;
  }
}

/** The shared git directory of a checkout, which may be a linked worktree itself or have its git directory elsewhere. */
function repositoryOf(location: string): string {
  // git writes the real place into its worktrees, whatever links lead to it.
  const git = realpathSync(join(location, ".git"));
  if (!lstatSync(git).isFile()) return git;
  const [, target = ""] = /^gitdir: (.+)\n?$/.exec(readFileSync(git, "utf8")) ?? [];
  const own = realpathSync(resolve(dirname(git), target));
  const shared = join(own, "commondir");
  return existsSync(shared)
    ? realpathSync(resolve(own, readFileSync(shared, "utf8").trimEnd()))
    : own;
}
