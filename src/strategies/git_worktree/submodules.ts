import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { SandboxCommitError } from "../../errors/index.ts";
import { type RelativePath, displayPath, isTextPath, toBytePath } from "../../model/byte-path.ts";
import { findBeneath } from "../../tree/beneath.ts";
import { copyWholeIndex } from "./copy-index.ts";
import { refuseCommit } from "./failures.ts";
import {
  type IndexEntry,
  SUBMODULE,
  isUnmerged,
  joinZero,
  parseIndexEntry,
  splitZero,
} from "./git-output.ts";
import { type Git, type GitCall, GitError } from "./git.ts";
import { type Site, privately } from "./site.ts";

/** A submodule that is not as the repository around it has it. */
export interface TouchedSubmodule {
  readonly path: RelativePath;
  /** The commit that it was moved on to; null when it has edits inside. */
  readonly movedTo: string | null;
}

/** A checkout without any edit. */
interface CleanCheckout {
  readonly head: string;
  /** Files that git ignores in it, where it is looked at closely. */
  readonly ignored: readonly RelativePath[];
}

/** How a submodule is looked at. */
interface Inspection {
  /** A name for private files that no other call has. */
  readonly name: string;
  /** Whether ignored files are listed, and files looked at that git was told to pass over. */
  readonly isClose?: boolean;
}

/** Where the repositories of submodules lie, and the checkout that they are in. */
interface Around {
  readonly folder: string;
  readonly gitDirectory: string;
}

/**
 * Finds submodules that are not as recorded. A folder may be empty, or have exactly the recorded commit checked out, as
 * `git submodule update --init` does. `lines` are those of `ls-files -s`.
 */
export async function touchedSubmodules(
  git: Git,
  site: Site,
  lines: readonly string[],
  name: string,
): Promise<TouchedSubmodule[]> {
  const around = { folder: site.worktree, gitDirectory: site.admin };
  const touched: TouchedSubmodule[] = [];
  for (const submodule of submodulesIn(lines)) {
    const clean = await lookInside(git, site, around, submodule, { name });
    const { path, oid } = submodule;
    if (clean?.head !== oid) touched.push({ path, movedTo: clean?.head ?? null });
  }
  return touched;
}

/** Files that git ignores in a submodule of the worktree, whatever commit it is at; null when it has edits inside. */
export async function ignoredInSubmodule(
  git: Git,
  site: Site,
  submodule: Pick<IndexEntry, "path" | "oid">,
): Promise<RelativePath[] | null> {
  const around = { folder: site.worktree, gitDirectory: site.admin };
  const clean = await lookInside(git, site, around, submodule, { name: "drop", isClose: true });
  return clean?.ignored.map((file) => `${submodule.path}/${file}` as RelativePath) ?? null;
}

/** The error for a submodule that comes, goes or moves on. */
export function submoduleMoved(path: RelativePath): SandboxCommitError {
  const name = displayPath(path);
  const message = `${name} is a submodule: adding, removing or moving one on is not taken`;
  return refuseCommit("submodule", message, {
    path,
    hint: `Take it back (\`coffer drop PLAN ${name}\`), do the same in the checkout with git, then commit again.`,
  });
}

/** The error for a path that belongs to another repository. */
export function insideRepository(path: RelativePath): SandboxCommitError {
  const name = displayPath(path);
  return new SandboxCommitError(`${name} is another repository; edits inside it are not taken`, {
    operation: "commit",
    hint: "Take the edits inside it back (in the worktree: empty its folder), and work on it in a plan of its own (`coffer open OTHER -r git:FOLDER`).",
    data: {
      originalRestored: true,
      undoDataAt: null,
      appliedCount: 0,
      failedPath: name,
      reason: "submodule",
    },
  });
}

function submodulesIn(lines: readonly string[]): IndexEntry[] {
  return lines
    .filter((line) => line.startsWith(SUBMODULE) && !isUnmerged(line))
    .map(parseIndexEntry);
}

/** What a submodule has when nothing in it is edited, the recorded commit for an empty folder; null for all else. */
async function lookInside(
  git: Git,
  site: Site,
  around: Around,
  { path, oid }: Pick<IndexEntry, "path" | "oid">,
  { name, isClose = false }: Inspection,
): Promise<CleanCheckout | null> {
  const bytes = Buffer.concat([Buffer.from(`${around.folder}/`), Buffer.from(path, "latin1")]);
  const found = await readdir(bytes).catch(() => []);
  if (found.length === 0) return { head: oid, ignored: [] };
  const folder = bytes.toString("utf8");
  const isPlain = isTextPath(path) && lstatSync(folder).isDirectory();
  const gitDirectory = isPlain ? repositoryOf(folder, around, site) : null;
  if (gitDirectory === null) return null;
  const index = `${site.folder}/${name}.submodule-index`;
  try {
    copyWholeIndex(site, `${gitDirectory}/index`, index);
    // Settings of that repository are not ours to follow, as those of the one around it are not.
    const call = privately(site, { index, files: folder });
    const within = {
      ...call,
      env: { ...call.env, GIT_OBJECT_DIRECTORY: `${gitDirectory}/objects` },
    };
    if (isClose) await unhideFiles(git, within, folder);
    const head = await cleanHead(git, within, gitDirectory);
    if (head === null) return null;
    const ignored = isClose ? await ignoredIn(git, within) : [];
    const lines = splitZero(await git.run(["ls-files", "-s", "-z"], within));
    const inner = { folder, gitDirectory };
    const how = { name: `${name}.inner`, isClose };
    for (const submodule of submodulesIn(lines)) {
      const clean = await lookInside(git, site, inner, submodule, how);
      if (clean?.head !== submodule.oid) return null;
      const below = clean.ignored.map((file) => `${submodule.path}/${file}` as RelativePath);
      ignored.push(...below);
    }
    return { head, ignored };
  } catch (thrown) {
    if (thrown instanceof GitError || isMissing(thrown)) return null;
    throw thrown;
  } finally {
    await rm(index, { force: true });
  }
}

/** Lets git see what it was told to pass over, in the index of the call; a skipped file that is not there stays so. */
async function unhideFiles(git: Git, call: GitCall, folder: string): Promise<void> {
  const lines = splitZero(await git.run(["ls-files", "-v", "-z"], call));
  const tagged = (tags: RegExp): RelativePath[] =>
    lines.flatMap((line) => (tags.test(line) ? (line.slice(2) as RelativePath) : []));
  const skipped = tagged(/^[Ss] /).filter((path) => findBeneath(toBytePath(folder), path) !== null);
  for (const [option, paths] of [
    ["--no-assume-unchanged", tagged(/^[hs] /)],
    ["--no-skip-worktree", skipped],
  ] as const) {
    if (paths.length === 0) continue;
    await git.run(["update-index", option, "-z", "--stdin"], { ...call, input: joinZero(paths) });
  }
}

async function ignoredIn(git: Git, call: GitCall): Promise<RelativePath[]> {
  const args = ["ls-files", "-z", "-o", "-i", "--exclude-standard"];
  return splitZero(await git.run(args, call)) as RelativePath[];
}

/** The commit that HEAD, index and files all are of; null when they differ. */
async function cleanHead(git: Git, call: GitCall, gitDirectory: string): Promise<string | null> {
  const head = await git.line(["rev-parse", "-q", "--verify", "HEAD^{commit}"], {
    ...call,
    // It names a place of the files that may be another one, or none.
    env: { ...call.env, GIT_DIR: gitDirectory },
  });
  const quiet = ["--quiet", "--ignore-submodules=all"];
  const asked = { ...call, accept: [0, 1] };
  // Files that were only touched, or written anew by a restore, are no edits; the index is our own copy.
  await git.ask(["update-index", "-q", "--refresh", "--ignore-submodules"], asked);
  const staged = await git.ask(["diff-index", "--cached", ...quiet, head, "--"], asked);
  const edited = await git.ask(["diff-files", ...quiet], asked);
  const added = await git.run(["ls-files", "-z", "-o", "--exclude-standard"], call);
  const isClean = staged.exitCode === 0 && edited.exitCode === 0 && added.length === 0;
  return isClean ? head : null;
}

/**
 * Where the repository of a submodule lies, if it lies where git keeps those of this very checkout; else null. A command
 * may have seen the git directory of the worktree at another place: its name is that of no other.
 */
function repositoryOf(folder: string, { gitDirectory }: Around, { admin }: Site): string | null {
  const link = `${folder}/.git`;
  try {
    if (!lstatSync(link).isFile()) return null;
    const [, target] = /^gitdir: (.+)\n$/.exec(readFileSync(link, "utf8")) ?? [];
    if (target === undefined) return null;
    const place = `/worktrees/${basename(admin)}/`;
    const at = target.indexOf(place);
    const inside = at < 0 ? target : `${admin}/${target.slice(at + place.length)}`;
    const found = realpathSync(resolve(dirname(link), inside));
    return found.startsWith(`${realpathSync(gitDirectory)}/modules/`) ? found : null;
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw thrown;
  }
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT";
}
