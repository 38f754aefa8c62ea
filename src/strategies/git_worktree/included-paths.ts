import { type RelativePath, displayPath } from "../../model/byte-path.ts";
import { readBase } from "./base-record.ts";
import { fewOf, refuseCommit } from "./failures.ts";
import { splitZero } from "./git-output.ts";
import type { Git } from "./git.ts";
import { branchTip, editBase, parentsOf } from "./history.ts";
import { includedAmong, readIncluded } from "./included-record.ts";
import { type Site, privately } from "./site.ts";

/**
 * Those of the paths that came along as ignored files, and stay in the sandbox whatever became of the list of what is
 * ignored; not those that the commit has which edits are told against.
 */
export async function includedPaths(
  git: Git,
  site: Site,
  paths: readonly RelativePath[],
): Promise<ReadonlySet<RelativePath>> {
  const found = includedAmong(await readIncluded(site), paths);
  if (found.length === 0) return new Set();
  const base = await editBase(git, site);
  const call = privately(site, { index: `${site.admin}/index` });
  const listed = await git.run(["ls-tree", "-r", "-z", "--name-only", base], call);
  const tracked = new Set(splitZero(listed));
  return new Set(found.filter((path) => !tracked.has(path)));
}

/**
 * Refuses commits that a program made in the worktree with such files in them: they would become part of the history.
 * @throws SandboxCommitError (`SANDBOX_COMMIT`, reason `included`) that names them.
 */
export async function refuseIncludedCommits(git: Git, site: Site): Promise<void> {
  if ((await readIncluded(site)).size === 0) return;
  const call = privately(site, { index: `${site.admin}/index` });
  const { commit: start } = await readBase(site);
  const parents = await parentsOf(git, site, call);
  if (parents.every((parent) => parent === start)) return;
  const tip = await branchTip(git, site);
  const commits = await git.run(["rev-list", ...parents, "--not", start, tip], call);
  if (commits.length === 0) return;
  const how = ["--stdin", "-r", "-c", "--root", "--no-commit-id", "--no-renames"];
  const touched = await git.run(["diff-tree", ...how, "--name-only", "-z"], {
    ...call,
    input: commits,
  });
  const paths = [...new Set(splitZero(touched) as RelativePath[])];
  const included = [...(await includedPaths(git, site, paths))];
  const [first] = included;
  if (first === undefined) return;
  const names = included.map(displayPath);
  const base = (await editBase(git, site)).slice(0, 12);
  const message = `Commits in the worktree have files that came along by include, which are never committed: ${fewOf(names)}`;
  throw refuseCommit("included", message, {
    path: first,
    paths: names,
    hint: `Take these commits back and keep their edits with \`git reset --soft ${base}\` in the worktree, then commit again.`,
  });
}
