import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import type { StrategyHost } from "../../contract/host.ts";
import { SandboxConflictError } from "../../errors/index.ts";
import { type BytePath, type RelativePath, displayPath } from "../../model/byte-path.ts";
import type { TreeChange } from "../tree-change.ts";
import type { SandboxPlace } from "../workspace.ts";

/** Also that of a submodule, or of another worktree. */
const INDEX = /^((?:.*\/)?\.git(?:\/(?:modules|worktrees)\/.+)?)\/index$/;
const INSIDE = /^((?:.*\/)?\.git)\//;

/**
 * The rules for a `.git` inside a directory: a live lock of the real repository refuses, and an index that lists the
 * same entries is no change, so that the user's own stays.
 * @throws SandboxConflictError with reason `locked`; nothing was touched.
 */
export async function settleGitIndex(
  host: StrategyHost,
  place: SandboxPlace,
  changes: readonly TreeChange[],
): Promise<TreeChange[]> {
  const repositories = new Set<string>();
  for (const { path } of changes) {
    const folder = INSIDE.exec(path)?.[1];
    if (folder !== undefined) repositories.add(folder);
  }
  for (const repository of repositories) refuseLive(place, repository);
  const kept: TreeChange[] = [];
  for (const change of changes) {
    if (!(await isSameIndex(host, place, change))) kept.push(change);
  }
  return kept;
}

function refuseLive(place: SandboxPlace, repository: string): void {
  const lock = `${place.root}/${repository}/index.lock` as BytePath;
  if (!existsSync(Buffer.from(lock, "latin1"))) return;
  const path = displayPath(`${repository}/index.lock` as BytePath);
  throw new SandboxConflictError(
    `git is at work in the real repository (${path}); nothing was published`,
    {
      operation: "commit",
      hint: "Wait until git has finished, or remove a stale index.lock, then commit again.",
      data: {
        originalRestored: true,
        undoDataAt: null,
        failedPath: path,
        appliedCount: 0,
        conflicts: [{ path, reason: "locked", base: null, theirs: null, ours: null }],
      },
    },
  );
}

/** What every git index among the changes lists, as digests by path, so that it is known again when git rewrites it. */
export async function indexDigests(
  host: StrategyHost,
  place: SandboxPlace,
  changes: readonly TreeChange[],
): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const { path, after, source } of changes) {
    if (after?.type !== "file" || source === null) continue;
    const digest = await indexDigest(host, place, path, source);
    if (digest !== null) digests[path] = digest;
  }
  return digests;
}

/** Those of the paths at which the real repository has an index that lists what the recorded one listed. */
export async function sameIndexes(
  host: StrategyHost,
  place: SandboxPlace,
  paths: readonly RelativePath[],
  digests: Readonly<Record<string, string>>,
): Promise<RelativePath[]> {
  const same: RelativePath[] = [];
  for (const path of paths) {
    const known = digests[path];
    if (known === undefined) continue;
    const real = `${place.root}/${path}` as BytePath;
    if ((await indexDigest(host, place, path, real)) === known) same.push(path);
  }
  return same;
}

async function indexDigest(
  host: StrategyHost,
  place: SandboxPlace,
  path: RelativePath,
  index: BytePath,
): Promise<string | null> {
  const folder = INDEX.exec(path)?.[1];
  if (folder === undefined) return null;
  const entries = await entriesOf(host, `${place.root}/${folder}` as BytePath, index);
  return entries === null ? null : createHash("sha256").update(entries).digest("hex");
}

async function isSameIndex(
  host: StrategyHost,
  place: SandboxPlace,
  change: TreeChange,
): Promise<boolean> {
  const folder = INDEX.exec(change.path)?.[1];
  if (folder === undefined || change.before === null || change.after === null) return false;
  if (change.source === null) return false;
  const repository = `${place.root}/${folder}` as BytePath;
  const real = await entriesOf(host, repository, `${repository}/index` as BytePath);
  return (
    real !== null &&
    real.equals((await entriesOf(host, repository, change.source)) ?? Buffer.alloc(0))
  );
}

/** What an index lists; null when git cannot read it. No hook, monitor or setting of the repository is run. */
async function entriesOf(
  host: StrategyHost,
  repository: BytePath,
  index: BytePath,
): Promise<Buffer | null> {
  const result = await host.run(
    "git",
    ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "ls-files", "-s", "-z"],
    {
      cwd: "/",
      env: {
        GIT_DIR: displayPath(repository),
        GIT_WORK_TREE: "/",
        GIT_INDEX_FILE: displayPath(index),
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_OPTIONAL_LOCKS: "0",
        GIT_TERMINAL_PROMPT: "0",
      },
    },
  );
  return result.exitCode === 0 ? result.stdout : null;
}
