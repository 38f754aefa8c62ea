import { existsSync, renameSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import type { CallOptions } from "../../contract/strategy.ts";
import { toBytePath } from "../../model/byte-path.ts";
import { removeFolder } from "../../tree/remove-folders.ts";
import { runTask } from "../../tree/threads/pool.ts";
import { writeBase } from "./base-record.ts";
import { copyIndex } from "./copy-index.ts";
import { forgetOperations } from "./forget-operations.ts";
import type { Git } from "./git.ts";
import { copyIncluded } from "./include.ts";
import { removeOwnRefs, removeOwnSettings, returnToBranch } from "./own-refs.ts";
import { makePrivateGit } from "./private-git.ts";
import { removeIfEmpty } from "./remove-if-empty.ts";
import { type Head, inRepository, shortName } from "./repository.ts";
import { forgetResolutions } from "./resolutions.ts";
import { swapIn } from "./swap-in.ts";
import { type Site, privately } from "./site.ts";

/** Makes the linked worktree on its own branch at the given commit, with the ignored files that shall come along. */
export async function makeWorktree(
  git: Git,
  site: Site,
  head: Head,
  options: CallOptions = {},
): Promise<void> {
  await addWorktree(git, site, head.commit, options);
  await fill(git, site, head.commit, site.worktree, `${site.admin}/index`, options);
  await writeBase(site, head);
}

/** Makes the linked worktree, without any file in it yet. */
export async function addWorktree(
  git: Git,
  site: Site,
  commit: string,
  options: CallOptions = {},
): Promise<void> {
  const { worktree, branch, repository } = site;
  await makePrivateGit(git, site);
  const name = shortName(branch);
  const how = ["--no-checkout", "--no-track", "--lock", "--reason", "in use by cofferdam"];
  await git.run(["worktree", "add", "-q", ...how, "-b", name, worktree, commit], {
    ...inRepository(repository),
    ...(options.signal !== undefined && { signal: options.signal }),
  });
}

/**
 * Throws everything in the worktree away and starts again from the given commit. The new files are complete before they
 * take the place of the old ones.
 */
export async function renewWorktree(git: Git, site: Site, head: Head): Promise<void> {
  const { folder, admin } = site;
  const fresh = `${folder}/fresh`;
  const index = `${folder}/fresh-index`;
  dropAside(site);
  await makePrivateGit(git, site);
  await mkdir(fresh);
  await rm(index, { force: true });
  await fill(git, site, head.commit, fresh, index);
  // Whatever programs made of it: without this link they would find another repository, or none.
  await writeFile(`${fresh}/.git`, `gitdir: ${admin}\n`);
  swapIn(site, "fresh");
  for (const state of ["MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "index.lock"]) {
    await rm(`${admin}/${state}`, { force: true });
  }
  await forgetOperations(site);
  copyIndex(index, `${admin}/index`);
  await rm(index, { force: true });
  await returnToBranch(git, site, head.commit);
  await writeBase(site, head);
  await forgetResolutions(site);
  dropAside(site);
}

/** Removes the worktree with everything that the repository knows of it. Idempotent; gives what could not be removed. */
export async function removeWorktree(git: Git, site: Site): Promise<readonly string[]> {
  const { admin, repository, place } = site;
  const remaining = await runTask("removeBelow", place.directory);
  if (remaining.length > 0 || !existsSync(repository.commonDirectory)) return remaining;
  // In one step, so that git never meets a worktree of which only a part is left.
  const aside = `${repository.commonDirectory}/cofferdam-removed-${place.sandboxId}`;
  if (existsSync(admin)) renameSync(admin, aside);
  const left = existsSync(aside) ? removeFolder(toBytePath(aside)) : [];
  if (left.length > 0) return left;
  removeIfEmpty(`${repository.commonDirectory}/worktrees`);
  await removeOwnSettings(git, site);
  await removeOwnRefs(git, site);
  return [];
}

async function fill(
  git: Git,
  site: Site,
  commit: string,
  files: string,
  index: string,
  options: CallOptions = {},
): Promise<void> {
  await git.run(["read-tree", "-m", "-u", commit], {
    ...privately(site, { index, files }),
    ...(options.signal !== undefined && { signal: options.signal }),
  });
  await copyIncluded(git, site, toBytePath(files));
}

function dropAside({ folder }: Site): void {
  if (existsSync(`${folder}/fresh`)) removeFolder(toBytePath(`${folder}/fresh`));
}
