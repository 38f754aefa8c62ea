import { mkdir, rm } from "node:fs/promises";
import type { RelativePath } from "../../model/byte-path.ts";
import { isPublished } from "../../tree/publish-filter.ts";
import { copyWholeIndex } from "./copy-index.ts";
import { parseRaw, splitZero } from "./git-output.ts";
import type { Git, GitCall } from "./git.ts";
import { type ToldHindrances, refuseHindrances, tellHindrances } from "./hindrances.ts";
import { includedPaths } from "./included-paths.ts";
import { renewPrivateGit } from "./private-git.ts";
import { type Site, privately } from "./site.ts";
import { forgetPaths, refuseImpossibleNames, storePaths } from "./store-paths.ts";
import { insideRepository } from "./submodules.ts";

/** What the worktree holds, as a tree of git. */
export interface RecordedTree {
  readonly tree: string;
  /** The index that the tree was written from; the caller removes it. */
  readonly index: string;
  /** Paths that stay in the sandbox, by a pattern or because they came along as ignored files. */
  readonly left: number;
  /** What a commit would be refused for, where it is only told. */
  readonly told: ToldHindrances;
}

const NOTHING_TOLD: ToldHindrances = { hindrances: new Map(), shown: new Map() };

/** How a worktree is recorded. */
export interface RecordOptions {
  /** Name of the private index. */
  readonly name: string;
  /** Where new objects go; the repository's own unless told. */
  readonly objects?: string;
  /** Patterns of paths that stay in the sandbox. */
  readonly exclude: readonly string[];
  readonly signal?: AbortSignal;
  /** Whether what a commit refuses is told instead, by somebody who only looks. */
  readonly isLook?: boolean;
  /** Looks at the paths whose content is going to be stored, before any of it is; may throw. */
  readonly beforeStoring?: (paths: readonly RelativePath[], index: string) => Promise<void>;
}

/**
 * Records everything in the worktree that git does not ignore, and that did not come along as an ignored file: new,
 * changed, removed, modes and links. Worktree, its
 * index and the repository's refs stay as they are. Who only looks is told what a commit refuses, and sees it recorded
 * as it is: conflicts with what the files have, submodules with the commit that they were moved on to.
 * @throws SandboxCommitError (`SANDBOX_COMMIT`) with reason `submodule` for edits inside another repository, or a submodule that is moved on,
 *   with reason `name` for names that git does not take,
 *   SandboxConflictError (`SANDBOX_CONFLICT`) for conflicts that nobody has resolved; GitError.
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
  const lines = splitZero(await git.run(["ls-files", "-s", "-z"], call));
  refuseImpossibleNames(lines);
  const looked = { lines, name, call };
  const told = options.isLook === true ? await tellHindrances(git, site, looked) : null;
  if (told === null) await refuseHindrances(git, site, looked);
  if (options.beforeStoring !== undefined) {
    // Else files would count as changed that somebody only touched.
    await git.ask(["update-index", "-q", "--refresh"], { ...call, accept: [0, 1] });
  }
  const changed = parseRaw(
    await git.run(["diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=all"], call),
  );
  const others = splitZero(await git.run(["ls-files", "-z", "-o", "--exclude-standard"], call));
  const isRepository = (path: string): boolean => path.endsWith("/");
  const repositories = others
    .filter(isRepository)
    .map((folder) => folder.slice(0, -1) as RelativePath);
  const added = others.filter((path) => !isRepository(path)) as RelativePath[];
  const edited = changed.map(({ path }) => path);
  const paths = [...new Set([...edited, ...added])];
  const indexed = lines.map((line) => line.slice(line.indexOf("\t") + 1) as RelativePath);
  const included = await includedPaths(git, site, [...indexed, ...paths, ...repositories]);
  for (const path of repositories.filter((one) => !included.has(one))) {
    if (told === null) throw insideRepository(path);
    told.hindrances.set(path, "repository");
  }
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
  return { tree, index, left, told: told ?? NOTHING_TOLD };
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
