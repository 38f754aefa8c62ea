import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { type RelativePath, ancestorsOf } from "../../model/byte-path.ts";
import type { PathConflict } from "./failures.ts";
import { type RawChange, joinZero, parseRaw, splitZero } from "./git-output.ts";
import type { Git } from "./git.ts";
import { programText } from "./program-files.ts";
import { inRepository } from "./repository.ts";
import { type Site, privately } from "./site.ts";

/** What git can be in the middle of, by the file that says so. */
const OPERATIONS: readonly (readonly [file: string, operation: string])[] = [
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["rebase-merge", "rebase"],
  ["rebase-apply/applying", "am"],
  ["rebase-apply", "rebase"],
];

/** What the user's git is in the middle of in this checkout; null when it is in nothing. */
export function operationInProgress({ repository }: Site): string | null {
  const found = OPERATIONS.find(([file]) => existsSync(`${repository.gitDirectory}/${file}`));
  return found?.[1] ?? null;
}

/**
 * What a program has begun in the sandbox's own worktree and git still has commits to replay of; null when nothing is. A
 * merge, a bisect and the last commit of a sequence have everything in the worktree already.
 */
export function replayInside({ admin }: Site): string | null {
  const [, rebase] =
    OPERATIONS.find(([file]) => file.startsWith("rebase-") && existsSync(`${admin}/${file}`)) ?? [];
  if (rebase !== undefined) return rebase;
  const steps = programText(`${admin}/sequencer/todo`)?.match(/^[a-z].*$/gm) ?? [];
  // The first one is the one that it stopped at.
  if (steps.length < 2) return null;
  return steps[0]?.startsWith("revert") === true ? "revert" : "cherry-pick";
}

/** Paths whose entries in the user's index are not those of the given commit. */
export async function stagedPaths(git: Git, site: Site, commit: string): Promise<RelativePath[]> {
  const args = ["diff-index", "--cached", "--raw", "-z", "--no-renames", commit];
  return parseRaw(await git.run(args, inRepository(site.repository))).map(({ path }) => path);
}

/** Those of the paths that differ in the index, or at, above or below which something differs there. */
export function overlapping(
  raw: readonly RawChange[],
  staged: readonly RelativePath[],
): PathConflict[] {
  if (staged.length === 0) return [];
  const exact = new Set(staged);
  const above = new Set(staged.flatMap((path) => ancestorsOf(path).slice(1)));
  return raw
    .filter(
      ({ path }) =>
        exact.has(path) || above.has(path) || ancestorsOf(path).some((folder) => exact.has(folder)),
    )
    .map(({ path }) => ({ path, reason: "changed" }));
}

/** Flags of the user's index that a new entry has to have again, by path. */
export interface IndexFlags {
  /** The file is not checked out (sparse checkout). */
  readonly skipped: ReadonlySet<RelativePath>;
  /** The user said that the file does not change. */
  readonly assumed: ReadonlySet<RelativePath>;
}

/** Looks the flags of these paths up in an index. */
export async function readFlags(
  git: Git,
  site: Site,
  raw: readonly RawChange[],
): Promise<IndexFlags> {
  const wanted = new Set<string>(raw.map(({ path }) => path));
  const skipped = new Set<RelativePath>();
  const assumed = new Set<RelativePath>();
  const call = inRepository(site.repository);
  for (const line of splitZero(await git.run(["ls-files", "-v", "-z"], call))) {
    const path = line.slice(2);
    if (line.startsWith("H ") || !wanted.has(path)) continue;
    if (/^[Ss] /.test(line)) skipped.add(path as RelativePath);
    if (/^[a-z] /.test(line)) assumed.add(path as RelativePath);
  }
  return { skipped, assumed };
}

/**
 * Those of the paths whose files in the checkout are not what the commit before says, by content. An index of just
 * these entries makes git look at nothing else.
 */
export async function dirtyPaths(
  git: Git,
  site: Site,
  name: string,
  raw: readonly RawChange[],
): Promise<PathConflict[]> {
  const lines = raw.flatMap(({ path, before }) =>
    before === null ? [] : [`${before.mode} ${before.oid}\t${path}`],
  );
  if (lines.length === 0) return [];
  const index = `${site.folder}/${name}.index`;
  // The lock is that of a git that we started and that was killed.
  for (const left of [index, `${index}.lock`]) await rm(left, { force: true });
  const call = privately(site, { index, files: site.repository.root });
  try {
    await git.run(["update-index", "-z", "--index-info"], { ...call, input: joinZero(lines) });
    await git.ask(["update-index", "-q", "--refresh"], { ...call, accept: [0, 1] });
    const args = ["diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=all"];
    const differing = parseRaw(await git.run(args, call));
    return differing.map(({ path, after }) => ({
      path,
      reason: after === null ? "missing" : "changed",
    }));
  } finally {
    await rm(index, { force: true });
  }
}
