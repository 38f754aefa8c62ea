import { rm } from "node:fs/promises";
import type { StrategyHost } from "../../contract/host.ts";
import type { CommitOptions } from "../../contract/strategy.ts";
import type { SandboxCommitError } from "../../errors/index.ts";
import type { RelativePath } from "../../model/byte-path.ts";
import { notAsReviewed } from "../../tree/strategy/commit-errors.ts";
import { readBase } from "./base-record.ts";
import { runCommitMessage, runPreCommit } from "./commit-hooks.ts";
import { refuseCommit, requireMessage } from "./failures.ts";
import { readGitProperties } from "./git-properties.ts";
import type { Git, GitCall } from "./git.ts";
import { isAncestor, mergeBase, parentsOf } from "./history.ts";
import { mergeTrees } from "./merge-trees.ts";
import { recordWorktree } from "./record-worktree.ts";
import type { Head } from "./repository.ts";
import { type IdleFilters, filesAmong, refuseUnfiltered } from "./repository-filters.ts";
import { type Site, privately } from "./site.ts";
import { writeCommit } from "./write-commit.ts";

/** What a commit makes of the branch, in the object database alone. */
export interface Merged {
  /** The commit that the sandbox's own edits are in. */
  readonly commit: string;
  /** What the branch becomes: that commit, or its merge with what others did meanwhile. */
  readonly to: string;
  /** An index of what the branch becomes; the caller removes it. */
  readonly index: string;
  /** Paths that a pattern keeps in the sandbox. */
  readonly left: number;
}

/** What is merged, and how it is called. */
export interface MergeRequest {
  /** The commit that the branch is at. */
  readonly tip: string;
  readonly name: string;
  readonly exclude: readonly string[];
  readonly options: CommitOptions;
  /** Whether hooks may run where the user wants them; they do unless told. */
  readonly hooks?: boolean;
  /** Filters that never run: their files are refused. */
  readonly idle: IdleFilters;
}

/**
 * Records the worktree as a commit and merges it with the branch; nothing but objects is written. Null when there is
 * nothing to commit.
 * @throws SandboxConflictError (`SANDBOX_CONFLICT`) with the paths that both sides changed; SandboxCommitError
 *   (`SANDBOX_COMMIT`, reason `filter`) for files that a filter of the repository would have to convert, for what was
 *   reviewed before a hook changed it, and for a branch of another history (`unrelated`).
 */
export async function mergeWorktree(
  host: StrategyHost,
  git: Git,
  site: Site,
  { tip, name, exclude, options, hooks = true, idle }: MergeRequest,
): Promise<Merged | null> {
  const { signal } = options;
  // Before anything is stored: a secret would stay in the repository, though nothing referred to it.
  const beforeStoring = (paths: readonly RelativePath[], index: string): Promise<void> =>
    refuseUnfiltered(git, site, idle, filesAmong(site, paths), { index, isIndexOnly: false });
  const how = {
    name,
    exclude,
    ...(idle.size > 0 && { beforeStoring }),
    ...(signal && { signal }),
  };
  let recorded = await recordWorktree(git, site, how);
  const { index } = recorded;
  const call: GitCall = { ...privately(site, { index }), ...(signal && { signal }) };
  const parents = await parentsOf(git, site, call);
  const [parent = tip] = parents;
  const treeOf = (commit: string): Promise<string> =>
    git.line(["rev-parse", `${commit}^{tree}`], call);
  const isNew = parents.length > 1 || (await treeOf(parent)) !== recorded.tree;
  if (!isNew && parent === (await readBase(site)).commit) return null;
  let message = options.message ?? `Changes of plan ${planOf(site)}`;
  if (isNew && hooks && readGitProperties(site.place.resource).runsHooks) {
    await runPreCommit(git, site, { index, name });
    const { tree: reviewed } = recorded;
    recorded = await recordWorktree(git, site, how);
    if (options.expect !== undefined && recorded.tree !== reviewed) throw notAsReviewed();
    message = await runCommitMessage(git, site, { index, name }, message);
    requireMessage(message);
  }
  const { left, tree } = recorded;
  const write = (ofTree: string, of: readonly string[]): Promise<string> =>
    writeCommit(host, git, site, call, { tree: ofTree, parents: of, message });
  const commit = isNew ? await write(tree, parents) : parent;
  if (await isAncestor(git, call, tip, commit)) return { commit, to: commit, index, left };
  const sides = { tip, commit };
  if ((await mergeBase(git, call, [tip, commit])) === null)
    throw unrelated(await readBase(site), tip);
  const merged = await mergeTrees(git, site, call, sides);
  if (merged === (await treeOf(tip))) return null;
  const to = await write(merged, [tip, commit]);
  await rm(index, { force: true });
  await git.run(["read-tree", to], call);
  return { commit, to, index, left };
}

/** git merges nothing that has no history in common, such as after an amendment of the very first commit. */
function unrelated({ ref, commit }: Head, tip: string): SandboxCommitError {
  const message = `${ref ?? "HEAD"} was rewritten and has no commit in common with the sandbox any more`;
  const rebase = `git rebase --autostash --onto ${tip.slice(0, 12)} ${commit.slice(0, 12)}`;
  return refuseCommit("unrelated", message, {
    hint: `Take the new history in with \`coffer exec PLAN -- ${rebase}\` in the repository, then commit again.`,
  });
}

function planOf({ place }: Site): string {
  return "ref" in place ? (place.ref as { readonly planId: string }).planId : place.sandboxId;
}
