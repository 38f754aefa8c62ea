import { makeFolderBeneath, removeBeneath, statBeneath } from "../../tree/beneath.ts";
import { type RawChange, SUBMODULE } from "./git-output.ts";
import { type Site, worktreePath } from "./site.ts";

/** Whether a submodule comes, goes or moves on at a path. */
export function isSubmoduleChange({ before, after }: RawChange): boolean {
  return before?.mode === SUBMODULE || after?.mode === SUBMODULE;
}

/**
 * Takes changes of submodules back, once the index has the earlier entries, by which alone git knows them: the folder
 * becomes empty, as in a new worktree, because whatever is checked out there is of another commit.
 */
export function emptySubmodules(site: Site, changes: readonly RawChange[]): void {
  const root = worktreePath(site);
  for (const { path, before } of changes) {
    if (statBeneath(root, path) !== null) removeBeneath(root, path);
    if (before?.mode === SUBMODULE) makeFolderBeneath(root, path);
  }
}
