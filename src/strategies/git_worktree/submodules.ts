import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { SandboxCommitError } from "../../errors/index.ts";
import { type RelativePath, displayPath, isTextPath } from "../../model/byte-path.ts";
import { copyWholeIndex } from "./copy-index.ts";
import { SUBMODULE, splitZero } from "./git-output.ts";
import { type Git, type GitCall, GitError } from "./git.ts";
import { type Site, privately } from "./site.ts";

/** A submodule, or one inside of one. */
interface Submodule {
  readonly path: string;
  /** The commit that the repository around it has for it. */
  readonly commit: string;
}

/** Where the repositories of submodules lie, and the checkout that they are in. */
interface Around {
  readonly folder: string;
  readonly gitDirectory: string;
}

/**
 * Refuses edits inside of submodules: they belong to other repositories. A folder may be empty, or have exactly the
 * recorded commit checked out, as `git submodule update --init` does. `entries` are lines of `ls-files -s`.
 * @throws SandboxCommitError (`SANDBOX_COMMIT`) with reason `submodule`.
 */
export async function refuseSubmoduleEdits(
  git: Git,
  site: Site,
  entries: readonly string[],
  name: string,
): Promise<void> {
  const around = { folder: site.worktree, gitDirectory: site.admin };
  for (const submodule of submodulesIn(entries)) {
    if (await isUntouched(git, site, around, submodule, name)) continue;
    throw insideRepository(submodule.path);
  }
}

/** The error for a path that belongs to another repository. */
export function insideRepository(path: string): SandboxCommitError {
  const name = displayPath(path as RelativePath);
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

function submodulesIn(entries: readonly string[]): Submodule[] {
  return entries
    .filter((entry) => entry.startsWith(SUBMODULE))
    .map((entry) => ({
      path: entry.slice(entry.indexOf("\t") + 1),
      commit: entry.split(" ")[1] ?? "",
    }));
}

async function isUntouched(
  git: Git,
  site: Site,
  around: Around,
  { path, commit }: Submodule,
  name: string,
): Promise<boolean> {
  const bytes = Buffer.concat([Buffer.from(`${around.folder}/`), Buffer.from(path, "latin1")]);
  const found = await readdir(bytes).catch(() => []);
  if (found.length === 0) return true;
  const folder = bytes.toString("utf8");
  const isPlain = isTextPath(path as RelativePath) && lstatSync(folder).isDirectory();
  const gitDirectory = isPlain ? repositoryOf(folder, around, site) : null;
  if (gitDirectory === null) return false;
  const index = `${site.folder}/${name}.submodule-index`;
  try {
    copyWholeIndex(site, `${gitDirectory}/index`, index);
    // Settings of that repository are not ours to follow, as those of the one around it are not.
    const call = privately(site, { index, files: folder });
    const within = {
      ...call,
      env: { ...call.env, GIT_OBJECT_DIRECTORY: `${gitDirectory}/objects` },
    };
    if (!(await isAt(git, within, gitDirectory, commit))) return false;
    const entries = splitZero(await git.run(["ls-files", "-s", "-z"], within));
    const inner = { folder, gitDirectory };
    for (const submodule of submodulesIn(entries))
      if (!(await isUntouched(git, site, inner, submodule, `${name}.inner`))) return false;
    return true;
  } catch (thrown) {
    if (thrown instanceof GitError || isMissing(thrown)) return false;
    throw thrown;
  } finally {
    await rm(index, { force: true });
  }
}

/** Whether HEAD, index and files are all those of one commit. */
async function isAt(
  git: Git,
  call: GitCall,
  gitDirectory: string,
  commit: string,
): Promise<boolean> {
  const head = await git.line(["rev-parse", "-q", "--verify", "HEAD"], {
    ...call,
    // It names a place of the files that may be another one, or none.
    env: { ...call.env, GIT_DIR: gitDirectory },
  });
  if (head !== commit) return false;
  const quiet = ["--quiet", "--ignore-submodules=all"];
  const asked = { ...call, accept: [0, 1] };
  const staged = await git.ask(["diff-index", "--cached", ...quiet, commit, "--"], asked);
  const edited = await git.ask(["diff-files", ...quiet], asked);
  const added = await git.run(["ls-files", "-z", "-o", "--exclude-standard"], call);
  return staged.exitCode === 0 && edited.exitCode === 0 && added.length === 0;
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
