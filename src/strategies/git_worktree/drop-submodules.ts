import { makeFolderBeneath, removeBeneath, statBeneath } from "../../tree/beneath.ts";
import { type RawChange, SUBMODULE, joinZero } from "./git-output.ts";
import type { Git } from "./git.ts";
import { type Site, privately, worktreePath } from "./site.ts";

/** Whether a submodule comes, goes or moves on at a path. */
export function isSubmoduleChange({ before, after }: RawChange): boolean {
  return before?.mode === SUBMODULE || after?.mode === SUBMODULE;
}

/**
 * Takes changes of submodules back. git knows a submodule by the index alone, so that gets the earlier entries; the
 * folder becomes empty, as in a new worktree: whatever is checked out there is of another commit.
 */
export async function dropSubmodules(
  git: Git,
  site: Site,
  changes: readonly RawChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const root = worktreePath(site);
  for (const { path, before } of changes) {
    if (statBeneath(root, path) !== null) removeBeneath(root, path);
    if (before?.mode === SUBMODULE) makeFolderBeneath(root, path);
  }
  const zero = "0".repeat(site.repository.objectFormat === "sha256" ? 64 : 40);
  const lines = changes.map(({ path, before }) =>
    before === null ? `0 ${zero}\t${path}` : `${before.mode} ${before.oid}\t${path}`,
  );
  await git.run(["update-index", "-z", "--add", "--replace", "--index-info"], {
    ...privately(site, { index: `${site.admin}/index` }),
    input: joinZero(lines),
  });
}
