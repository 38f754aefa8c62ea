import { readBase } from "./base-record.ts";
import { replayInside } from "./checkout-state.ts";
import type { Git, GitCall } from "./git.ts";
import { branchTip, isContinued, worktreeHead } from "./history.ts";
import { commitsNamedIn, programText } from "./program-files.ts";
import { inRepository, readRef, shortName } from "./repository.ts";
import type { Site } from "./site.ts";

/** Where git remembers what a rebase began with. */
const REBASED = ["rebase-merge/orig-head", "rebase-apply/orig-head"];

/**
 * How many commits of the sandbox a commit leaves behind, `published` being those that it takes along: they are of another
 * history than what it continues, or nothing but the branch of the sandbox or an unfinished rebase still has them. At
 * least one is, while git has commits to replay.
 */
export async function countStrayCommits(
  git: Git,
  site: Site,
  call: GitCall,
  published: number,
): Promise<number> {
  const { commit: first } = await readBase(site);
  const at = await worktreeHead(git, site);
  const ended = await formerEnds(git, site);
  const pending = replayInside(site) === null ? 0 : 1;
  if ([at ?? first, ...ended].every((end) => end === first)) return pending;
  const known = [first, await branchTip(git, site)];
  const isOther = at !== null && !(await isContinued(git, site, call, at));
  const other = isOther ? await countBetween(git, call, [at], known) : 0;
  const isCounted = isOther || published > 0;
  const ends = [...ended, ...(isCounted || at === null ? [] : [at])];
  const left = ends.filter((end) => !known.includes(end));
  // What other branches and tags have stays when the sandbox goes.
  const kept = [`--exclude=${shortName(site.branch)}`, "--branches", "--tags", "--remotes"];
  const without = [...known, ...(isCounted && at !== null ? [at] : []), ...kept];
  const former = await countBetween(git, inRepository(site.repository), left, without);
  return Math.max(other + former, pending);
}

/** Commits that the worktree was at and is not any more: the branch has them, or a rebase that was begun there. */
async function formerEnds(git: Git, site: Site): Promise<string[]> {
  const isAtBranch = programText(`${site.admin}/HEAD`) === `ref: ${site.branch}\n`;
  const branch = isAtBranch ? null : await readRef(git, site.repository, site.branch);
  const rebased = REBASED.flatMap((file) => commitsNamedIn(`${site.admin}/${file}`));
  return branch === null ? rebased : [branch, ...rebased];
}

async function countBetween(
  git: Git,
  call: GitCall,
  ends: readonly string[],
  without: readonly string[],
): Promise<number> {
  if (ends.length === 0) return 0;
  const args = ["rev-list", "--count", "--ignore-missing", ...ends, "--not", ...without];
  return Number(await git.line(args, call));
}
