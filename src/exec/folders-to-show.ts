import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ShownPlace } from "../contract/enclosed-command.ts";
import { endangeredWorktrees, keptPlace } from "./endangered-worktrees.ts";
import type { ShownFolder } from "./shown-sandbox.ts";
import { type SeenWorktree, seenWorktree } from "./submodule-links.ts";

/** Where surroundings show the repository of a worktree: always the same, so that it leaves one trace at most. */
const REPOSITORIES = "/run/cofferdam";

/** What surroundings of a command have to show. */
export interface FoldersToShow {
  /** Outer places first. */
  readonly folders: readonly ShownPlace[];
  /** Worktrees whose repositories are seen at another place than they lie. */
  readonly worktrees: readonly SeenWorktree[];
}

/**
 * What surroundings of a command have to show. A worktree may hide its own repository, or have it where nothing else is
 * shown: the repository is shown elsewhere, and the worktree is told where, by a file in the folder of the run. Its other worktrees are not shown,
 * and kept.
 */
export function foldersToShow(sandboxes: readonly ShownFolder[], folder: string): FoldersToShow {
  const worktrees: SeenWorktree[] = [];
  const places = sandboxes.flatMap(({ location, workspace, worktree }, index) => {
    const own = { location, workspace };
    if (worktree === undefined) return [own];
    const git = join(location, ".git");
    const shownAt = join(REPOSITORIES, `git-${index}`);
    const text = join(folder, `git-${index}.txt`);
    writeFileSync(text, `gitdir: ${shownAt}/worktrees/${worktree.name}\n`);
    worktrees.push(seenWorktree(own, worktree, shownAt));
    const shown = { location: shownAt, workspace: worktree.repository };
    const kept = endangeredWorktrees(worktree.repository, () => false).map((name, number) => {
      const place = keptPlace(shownAt, name);
      const from = join(folder, `worktree-${index}-${number}.txt`);
      writeFileSync(from, place.text);
      return { location: place.file, workspace: from };
    });
    return [own, shown, { location: git, workspace: text }, ...kept];
  });
  const folders = places.toSorted((a, b) => a.location.length - b.location.length);
  return { folders, worktrees };
}
