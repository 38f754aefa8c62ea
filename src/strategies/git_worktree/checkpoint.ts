import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { CheckpointError } from "../../errors/index.ts";
import { syncFolder } from "../../journal/durable-file.ts";
import { type BytePath, toBytePath } from "../../model/byte-path.ts";
import { syncfs } from "../../platform/native/index.ts";
import { checkSpace } from "../../tree/check-space.ts";
import { copyTree } from "../../tree/copy-tree.ts";
import { removeFolder } from "../../tree/remove-folders.ts";
import { withRoot } from "../../tree/scan/open-directory.ts";
import { readBase, writeBase } from "./base-record.ts";
import { commitOfIndex } from "./commit-of-index.ts";
import { copyIndex, copyWholeIndex } from "./copy-index.ts";
import { forgetOperations } from "./forget-operations.ts";
import type { Git } from "./git.ts";
import { worktreeHead } from "./history.ts";
import { addIncluded, readIncluded } from "./included-record.ts";
import { pin, returnToBranch, unpin } from "./own-refs.ts";
import { commitsNamedIn } from "./program-files.ts";
import { type Head, inRepository } from "./repository.ts";
import { forgetResolutions } from "./resolutions.ts";
import { GIT_LINK, type Site, privately, worktreePath } from "./site.ts";
import { swapIn } from "./swap-in.ts";
import { addWorktree } from "./worktree.ts";

const folderOf = ({ folder }: Site, id: string): string => `${folder}/c-${id}`;
const pinOf = ({ pins }: Site, id: string): string => `${pins}/checkpoint-${id}`;

/** What a checkpoint keeps besides files and index. */
interface Kept {
  readonly base: Head;
  /** The commit that the worktree was at. */
  readonly head: string;
}

/**
 * Keeps the present worktree under an id: every file, ignored ones included, the worktree's index and the commit
 * that it is at. Blocks are shared where the file system can. It appears whole or not at all.
 */
export async function makeCheckpoint(git: Git, site: Site, id: string): Promise<void> {
  const building = `${site.folder}/building-${id}`;
  if (existsSync(building)) removeFolder(toBytePath(building));
  await mkdir(`${building}/tree`, { recursive: true, mode: 0o700 });
  try {
    await copyFiles(worktreePath(site), `${building}/tree`);
    await keepIndex(git, site, `${building}/index`);
    const merging = await copyMergeHead(site.admin, building);
    const call = inRepository(site.repository);
    // A program may have left the branch: a commit continues what the worktree is at.
    const head =
      (await worktreeHead(git, site)) ??
      (await git.line(["rev-parse", "--verify", site.branch], call));
    const kept: Kept = { base: await readBase(site), head };
    await writeFile(`${building}/kept.json`, JSON.stringify(kept), { mode: 0o600 });
    const commits = [head, kept.base.commit, ...merging];
    const all = await commitOfIndex(git, site, `${building}/index`, commits);
    await pin(site, pinOf(site, id), all);
    withRoot(toBytePath(building), syncfs);
    await rename(building, folderOf(site, id));
    await syncFolder(site.folder);
  } catch (error) {
    removeFolder(toBytePath(building));
    throw error;
  }
}

/** Brings the worktree back to a checkpoint; the new files are complete before they take the place of the old ones. */
export async function restoreCheckpoint(git: Git, site: Site, id: string): Promise<void> {
  const { folder, admin } = site;
  const kept = await readKept(site, id);
  const fresh = `${folder}/fresh`;
  if (existsSync(fresh)) removeFolder(toBytePath(fresh));
  await mkdir(fresh, { mode: 0o700 });
  // Before the files: the folder gets its time back last.
  await writeFile(`${fresh}/${GIT_LINK}`, `gitdir: ${admin}\n`);
  await copyFiles(toBytePath(`${folderOf(site, id)}/tree`), fresh);
  swapIn(site, "fresh");
  await forgetOperations(site);
  await copyState(site, id);
  await returnToBranch(git, site, kept.head);
  await writeBase(site, kept.base);
  await forgetResolutions(site);
  await refresh(git, site);
  removeFolder(toBytePath(fresh));
}

/** Makes the worktree of another sandbox from a checkpoint of this one. */
export async function forkCheckpoint(git: Git, from: Site, id: string, site: Site): Promise<void> {
  const kept = await readKept(from, id);
  await addWorktree(git, site, kept.head);
  await addIncluded(site, await readIncluded(from));
  await copyFiles(toBytePath(`${folderOf(from, id)}/tree`), site.worktree);
  await copyState(site, id, from);
  await writeBase(site, kept.base);
  await refresh(git, site);
}

/** Drops a checkpoint; one that is not there is fine. */
export function removeCheckpoint(site: Site, id: string): void {
  const folder = folderOf(site, id);
  if (existsSync(folder)) removeFolder(toBytePath(folder));
  unpin(site, pinOf(site, id));
}

async function copyFiles(source: BytePath, target: string): Promise<void> {
  const to = toBytePath(target);
  await copyTree({
    source,
    target: to,
    exclude: [GIT_LINK],
    reflink: "auto",
    beforeCopy: (bytes, entries) => checkSpace(to, { bytes, entries, reflink: "auto" }),
  });
}

/** git may remove the older part of a split index at any time: a checkpoint has all of it. */
async function keepIndex(git: Git, site: Site, index: string): Promise<void> {
  const isSplit = copyWholeIndex(site, `${site.admin}/index`, index);
  if (isSplit) await git.run(["update-index", "--no-split-index"], privately(site, { index }));
}

async function copyState(site: Site, id: string, from: Site = site): Promise<void> {
  await rm(`${site.admin}/index.lock`, { force: true });
  copyIndex(`${folderOf(from, id)}/index`, `${site.admin}/index`);
  await copyMergeHead(folderOf(from, id), site.admin);
}

/** Copies what is being merged, or that nothing is, and gives the commits. */
async function copyMergeHead(from: string, to: string): Promise<readonly string[]> {
  const merged = commitsNamedIn(`${from}/MERGE_HEAD`);
  const target = `${to}/MERGE_HEAD`;
  // Never written through a link that a program has made there.
  await rm(target, { force: true });
  if (merged.length > 0) await writeFile(target, `${merged.join("\n")}\n`, { flag: "wx" });
  return merged;
}

/** The files are others than those that the index was written for; git would read every one of them again. */
async function refresh(git: Git, site: Site): Promise<void> {
  const call = privately(site, { index: `${site.admin}/index` });
  await git.ask(["update-index", "-q", "--refresh"], { ...call, accept: [0, 1] });
}

async function readKept(site: Site, id: string): Promise<Kept> {
  try {
    const text = await readFile(`${folderOf(site, id)}/kept.json`, "utf8");
    return JSON.parse(text) as Kept;
  } catch (cause) {
    throw new CheckpointError(`The checkpoint ${id} is damaged`, {
      operation: "restoreCheckpoint",
      cause,
      data: { checkpointId: id, reason: "damaged" },
    });
  }
}
