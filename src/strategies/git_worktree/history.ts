import { existsSync } from "node:fs";
import { readBase } from "./base-record.ts";
import type { Git, GitCall } from "./git.ts";
import { commitsNamedIn } from "./program-files.ts";
import { readRef } from "./repository.ts";
import { type Site, privately } from "./site.ts";

/** The commit that the worktree is at; null when a program left it at none. */
export async function worktreeHead(git: Git, site: Site): Promise<string | null> {
  const { exitCode, stdout } = await git.ask(["rev-parse", "-q", "--verify", "HEAD^{commit}"], {
    cwd: "/",
    env: { GIT_DIR: site.admin, GIT_WORK_TREE: site.worktree },
    accept: [0, 1],
  });
  return exitCode === 0 ? stdout.toString("utf8").trim() : null;
}

/** The commit that the worktree is at, with what is being merged there; the first one where that is another history. */
export async function parentsOf(git: Git, site: Site, call: GitCall): Promise<string[]> {
  const { commit: first } = await readBase(site);
  const at = (await worktreeHead(git, site)) ?? first;
  const parents = [(await isContinued(git, site, call, at)) ? at : first];
  return [...new Set([...parents, ...commitsNamedIn(`${site.admin}/MERGE_HEAD`)])];
}

/**
 * Whether what a commit publishes may continue this one: it has the commit that the sandbox was made from or, where the
 * branch was rewritten since, what the branch has instead.
 */
export async function isContinued(
  git: Git,
  site: Site,
  call: GitCall,
  at: string,
): Promise<boolean> {
  const { commit: first } = await readBase(site);
  if (at === first || (await isAncestor(git, call, first, at))) return true;
  const tip = await branchTip(git, site);
  if (tip === first) return false;
  const common = await mergeBase(git, call, [tip, at]);
  return common === tip || (common !== null && !(await isAncestor(git, call, common, first)));
}

/** The best commit that the first of these has in common with the others; null when there is none. */
export async function mergeBase(
  git: Git,
  call: GitCall,
  commits: readonly string[],
): Promise<string | null> {
  const args = ["merge-base", ...commits];
  const { exitCode, stdout } = await git.ask(args, { ...call, accept: [0, 1] });
  return exitCode === 0 ? stdout.toString("utf8").trim() : null;
}

/** Whether one commit is in the history of another. */
export async function isAncestor(
  git: Git,
  call: GitCall,
  older: string,
  newer: string,
): Promise<boolean> {
  const args = ["merge-base", "--is-ancestor", older, newer];
  return (await git.ask(args, { ...call, accept: [0, 1] })).exitCode === 0;
}

/** The commit that the branch of the sandbox is at; that of the creation when the branch is gone. */
export async function branchTip(git: Git, site: Site): Promise<string> {
  const { commit, ref } = await readBase(site);
  return (await readRef(git, site.repository, ref ?? "HEAD")) ?? commit;
}

/**
 * The commit that the merge of a commit has as its base: only against this one are the edits of a sandbox what a commit
 * publishes. It is the one that the sandbox was made from, until its worktree takes newer ones of the branch in.
 * `tree` is what the worktree holds.
 */
export async function editBase(git: Git, site: Site, tree?: string): Promise<string> {
  const { commit: first } = await readBase(site);
  const tip = await branchTip(git, site);
  // Then whatever a commit continues has the first one in its history.
  if (tip === first) return first;
  const call = privately(site, { index: `${site.admin}/index` });
  const parents = await parentsOf(git, site, call);
  const base = (await mergeBase(git, call, [tip, ...parents])) ?? first;
  // Without edits nothing is published, also when the branch has gone back behind the first commit.
  const isUnmoved = base !== first && parents.every((parent) => parent === first);
  if (!isUnmoved || tree === undefined) return base;
  return (await git.line(["rev-parse", `${first}^{tree}`], call)) === tree ? first : base;
}

/** How many commits of the worktree a commit would publish besides the edits. `tree` is what the worktree holds. */
export async function countCommits(
  git: Git,
  site: Site,
  at: { readonly call: GitCall; readonly tree: string; readonly hasEdits: boolean },
): Promise<number> {
  const { call, tree, hasEdits } = at;
  const parents = await parentsOf(git, site, call);
  const [parent = ""] = parents;
  if (parents.length === 1 && parent === (await readBase(site)).commit) return 0;
  const tip = await branchTip(git, site);
  if (!hasEdits) {
    // What only takes back what the commits did is not published, nor what a merge makes nothing of.
    const isMerge = parents.length > 1;
    if (!isMerge && (await git.line(["rev-parse", `${parent}^{tree}`], call)) !== tree) return 0;
    if (!(await isAncestor(git, call, tip, parent))) return 0;
  }
  return Number(await git.line(["rev-list", "--count", ...parents, `^${tip}`], call));
}

/**
 * Whether a commit that changes no file is wanted for its history: somebody made it in the worktree, or merges there.
 * One that only takes back what the commits before it did is not.
 */
export async function isHistory(
  git: Git,
  site: Site,
  { from, to, commit }: { readonly from: string; readonly to: string; readonly commit: string },
): Promise<boolean> {
  if (to === from) return false;
  return existsSync(`${site.admin}/MERGE_HEAD`) || commit === (await worktreeHead(git, site));
}
