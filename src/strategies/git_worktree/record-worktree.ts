import { existsSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { SandboxConflictError } from "../../errors/index.ts";
import type { RelativePath } from "../../model/byte-path.ts";
import { publicPath } from "../../tree/public-path.ts";
import { isPublished } from "../../tree/publish-filter.ts";
import { copyWholeIndex } from "./copy-index.ts";
import { fewOf } from "./failures.ts";
import { parseRaw, splitZero } from "./git-output.ts";
import type { Git, GitCall } from "./git.ts";
import { includedPaths } from "./included-paths.ts";
import { renewPrivateGit } from "./private-git.ts";
import { type Site, privately } from "./site.ts";
import { forgetPaths, storePaths } from "./store-paths.ts";
import { insideRepository, refuseSubmoduleEdits } from "./submodules.ts";

/** What the worktree holds, as a tree of git. */
export interface RecordedTree {
  readonly tree: string;
  /** The index that the tree was written from; the caller removes it. */
  readonly index: string;
  /** Paths that stay in the sandbox, by a pattern or because they came along as ignored files. */
  readonly left: number;
}

/** How a worktree is recorded. */
export interface RecordOptions {
  /** Name of the private index. */
  readonly name: string;
  /** Where new objects go; the repository's own unless told. */
  readonly objects?: string;
  /** Patterns of paths that stay in the sandbox. */
  readonly exclude: readonly string[];
  readonly signal?: AbortSignal;
  /** Looks at the paths whose content is going to be stored, before any of it is; may throw. */
  readonly beforeStoring?: (paths: readonly RelativePath[], index: string) => Promise<void>;
}

const MARKER = /^<{7} .*^={7}$.*^>{7} /ms;

/**
 * Records everything in the worktree that git does not ignore, and that did not come along as an ignored file: new,
 * changed, removed, modes and links. Worktree, its
 * index and the repository's refs stay as they are.
 * @throws SandboxCommitError (`SANDBOX_COMMIT`) with reason `submodule` for edits inside another repository,
 *   with reason `name` for names that git does not take,
 *   SandboxConflictError (`SANDBOX_CONFLICT`) for files of a merge that nobody has resolved; GitError.
 */
export async function recordWorktree(
  git: Git,
  site: Site,
  options: RecordOptions,
): Promise<RecordedTree> {
  const { name, objects, exclude, signal } = options;
  const index = `${site.folder}/${name}.index`;
  await renewPrivateGit(git, site, name);
  copyWholeIndex(site, `${site.admin}/index`, index);
  const call: GitCall = {
    ...privately(site, { index, ...(objects !== undefined && { objects }) }),
    ...(signal !== undefined && { signal }),
  };
  const entries = splitZero(await git.run(["ls-files", "-s", "-z"], call));
  await refuseSubmoduleEdits(git, site, entries, name);
  await refuseUnresolved(site, entries);
  if (options.beforeStoring !== undefined) {
    // Else files would count as changed that somebody only touched.
    await git.ask(["update-index", "-q", "--refresh"], { ...call, accept: [0, 1] });
  }
  const changed = parseRaw(
    await git.run(["diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=all"], call),
  );
  const added = splitZero(await git.run(["ls-files", "-z", "-o", "--exclude-standard"], call));
  for (const path of added) if (path.endsWith("/")) throw insideRepository(path.slice(0, -1));
  const edited = changed.map(({ path }) => path);
  const paths = [...new Set([...edited, ...added])] as RelativePath[];
  const indexed = entries.map((entry) => entry.slice(entry.indexOf("\t") + 1) as RelativePath);
  const included = await includedPaths(git, site, [...indexed, ...paths]);
  const isTaken = (path: RelativePath): boolean =>
    !included.has(path) && isPublished(path, exclude);
  const published = paths.filter(isTaken);
  await options.beforeStoring?.(published, index);
  const removed = changed.flatMap(({ path, after }) => (after === null ? [path] : []));
  await forgetPaths(
    git,
    call,
    indexed.filter((path) => included.has(path)),
  );
  await storePaths(git, site, call, { paths: published, removed: removed.filter(isTaken) });
  const tree = await git.line(["write-tree"], call);
  const left = new Set([...paths, ...included]).size - published.length;
  return { tree, index, left };
}

/** Runs with a folder for objects that nobody keeps, and removes it afterwards. */
export async function withScratchObjects<T>(
  site: Site,
  name: string,
  work: (objects: string) => Promise<T>,
): Promise<T> {
  const objects = `${site.folder}/${name}.objects`;
  await mkdir(objects, { recursive: true, mode: 0o700 });
  try {
    return await work(objects);
  } finally {
    await rm(objects, { recursive: true, force: true });
    await rm(`${site.folder}/${name}.index`, { force: true });
  }
}

/** Merging in the worktree leaves files with both sides in them; those must never be published. */
async function refuseUnresolved(site: Site, entries: readonly string[]): Promise<void> {
  const unmerged = new Set(
    entries
      .filter((entry) => !/^\d{6} [0-9a-f]+ 0\t/.test(entry))
      .map((entry) => entry.slice(entry.indexOf("\t") + 1)),
  );
  const unresolved: string[] = [];
  for (const path of unmerged) {
    const file = Buffer.concat([
      Buffer.from(`${site.worktree}/`, "utf8"),
      Buffer.from(path, "latin1"),
    ]);
    if (existsSync(file) && MARKER.test(await readFile(file, "latin1"))) unresolved.push(path);
  }
  if (unresolved.length === 0) return;
  const conflicts = unresolved.map((path) => ({
    ...publicPath(path as RelativePath),
    reason: "overlap",
    base: null,
    theirs: null,
    ours: null,
  }));
  const names = fewOf(conflicts.map(({ path }) => path));
  throw new SandboxConflictError(`The merge in the worktree is not resolved yet: ${names}`, {
    operation: "commit",
    hint: "Edit the named files until no conflict markers are left, then try again.",
    data: {
      ...UNTOUCHED,
      failedPath: conflicts[0]?.path ?? null,
      reason: "unresolved",
      conflicts,
    },
  });
}

const UNTOUCHED = { originalRestored: true, undoDataAt: null, appliedCount: 0 };
