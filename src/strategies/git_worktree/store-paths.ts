import { type RelativePath, ancestorsOf, displayPath } from "../../model/byte-path.ts";
import { findBeneath } from "../../tree/beneath.ts";
import { refuseCommit } from "./failures.ts";
import { joinZero, splitZero } from "./git-output.ts";
import type { Git, GitCall } from "./git.ts";
import { type Site, worktreePath } from "./site.ts";

/** Paths of a worktree whose entries in an index become what the files are. */
export interface PathsToStore {
  readonly paths: readonly RelativePath[];
  /** Those of the index that have no file any more. */
  readonly removed: readonly RelativePath[];
}

/** Names that git lets nobody add, and finds in no index that it has written itself. */
const IMPOSSIBLE = /(?:^|\/)(?:\.git|\.{1,2})(?:\/|$)/i;
/** Names that git may take for its own folder, on this or another system, and then passes over without an error. */
const RESERVED = /(?:^|\/)(?:\.git(?:$|[/ .:]|modules)|gi[^/]*~)/i;

/**
 * Refuses an index that was not written by git, by lines of `ls-files -s`: git checks names when they are added only.
 * @throws SandboxCommitError (`SANDBOX_COMMIT`, reason `name`).
 */
export function refuseImpossibleNames(lines: readonly string[]): void {
  const names = lines.map((line) => line.slice(line.indexOf("\t") + 1) as RelativePath);
  refuseNames(names.filter((name) => IMPOSSIBLE.test(name)));
}

/**
 * Brings the entries of these paths in the index of the call to what the worktree has; new content is stored.
 * @throws SandboxCommitError (`SANDBOX_COMMIT`, reason `name`) for files of names that git does not take; GitError.
 */
export async function storePaths(
  git: Git,
  site: Site,
  call: GitCall,
  { paths, removed }: PathsToStore,
): Promise<void> {
  const hidden = new Set(behindLinks(site, removed));
  await forgetPaths(git, call, [...hidden]);
  const plain = paths.filter((path) => !hidden.has(path));
  if (plain.length === 0) return;
  const how = ["-z", "--add", "--remove", "--replace", "--stdin"];
  await git.run(["update-index", ...how], { ...call, input: joinZero(plain) });
  const gone = new Set(removed);
  const doubtful = plain.filter((path) => RESERVED.test(path) && !gone.has(path));
  if (doubtful.length > 0) await refuseLeftOut(git, call, doubtful);
}

/** Takes paths out of the index of a call, whatever the worktree has there. */
export async function forgetPaths(
  git: Git,
  call: GitCall,
  paths: readonly RelativePath[],
): Promise<void> {
  if (paths.length === 0) return;
  const input = joinZero(paths);
  await git.run(["update-index", "--force-remove", "-z", "--stdin"], { ...call, input });
}

/** Those of the paths that are gone because a link has the place of a folder above them; git refuses to look there. */
function behindLinks(site: Site, removed: readonly RelativePath[]): RelativePath[] {
  const root = worktreePath(site);
  const known = new Map<RelativePath, boolean>();
  const isLink = (folder: RelativePath): boolean => {
    const found = known.get(folder) ?? findBeneath(root, folder)?.type === "symlink";
    known.set(folder, found);
    return found;
  };
  return removed.filter((path) => ancestorsOf(path).slice(1).some(isLink));
}

async function refuseLeftOut(
  git: Git,
  call: GitCall,
  paths: readonly RelativePath[],
): Promise<void> {
  const taken = new Set(splitZero(await git.run(["ls-files", "-z"], call)));
  const left = paths.filter((path) => !taken.has(path));
  refuseNames(left);
}

function refuseNames(paths: readonly RelativePath[]): void {
  const [first] = paths;
  if (first === undefined) return;
  const names = paths.map(displayPath);
  throw refuseCommit("name", `git takes no files of these names: ${names.join(", ")}`, {
    path: first,
    paths: names,
    hint: "Rename them, or remove them from the worktree.",
  });
}
