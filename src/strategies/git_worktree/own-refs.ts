import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { removeTemporaries, replaceFiles, syncFolder } from "../../journal/durable-file.ts";
import type { Git } from "./git.ts";
import { removeIfEmpty } from "./remove-if-empty.ts";
import { inRepository, shortName } from "./repository.ts";
import type { Site } from "./site.ts";

/** Refs in this folder are nobody's but ours. */
const FOLDER = "refs/cofferdam";

/**
 * Keeps a commit from being collected as garbage, durably. Names of our own need no lock of git, and a killed git would
 * leave one; git overlooks the draft.
 */
export async function pin(site: Site, ref: string, commit: string): Promise<void> {
  const file = `${site.repository.commonDirectory}/${ref}`;
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true });
  await syncFolder(dirname(folder));
  // Whoever may read the repository has to be able to read all of its refs, or its git fails.
  await replaceFiles([{ path: file, content: `${commit}\n`, mode: 0o666 }]);
}

/** Gives a kept commit up. Idempotent. One that the user's git has packed meanwhile goes with the sandbox. */
export function unpin({ repository, pins }: Site, ref: string): void {
  const { commonDirectory } = repository;
  removeLoose(commonDirectory, ref);
  if (!existsSync(`${commonDirectory}/${pins}`)) return;
  removeTemporaries(`${commonDirectory}/${pins}`);
  removeIfEmpty(`${commonDirectory}/${pins}`);
}

/**
 * Lets our branch point to a commit, and the worktree be on it, also after a git of ours was killed while it did the
 * same.
 */
export async function returnToBranch(git: Git, site: Site, commit: string): Promise<void> {
  const { admin, branch, repository, worktree } = site;
  removeLock(repository.commonDirectory, branch);
  await git.run(["update-ref", "--no-deref", branch, commit], inRepository(repository));
  // A git that cannot remove its lock does not say so.
  removeLock(repository.commonDirectory, branch);
  rmSync(`${admin}/HEAD.lock`, { force: true });
  await git.run(["symbolic-ref", "HEAD", branch], {
    cwd: worktree,
    env: { GIT_DIR: admin, GIT_WORK_TREE: worktree },
  });
}

/** Removes what programs noted about our branch in the settings of the repository, such as its upstream. Idempotent. */
export async function removeOwnSettings(git: Git, { branch, repository }: Site): Promise<void> {
  const file = `${repository.commonDirectory}/config`;
  const name = shortName(branch);
  // Hardly ever is there anything: then no git runs, and none takes the lock.
  if (!existsSync(file) || !readFileSync(file, "latin1").includes(name)) return;
  const config = ["config", "--file", file];
  const asked = ["--name-only", "--get-regexp", `^branch\\.${name}\\.`];
  const { exitCode } = await git.ask([...config, ...asked], { accept: [0, 1] });
  if (exitCode === 0) await git.run([...config, "--remove-section", `branch.${name}`]);
}

/** Removes our branch and every ref that keeps our objects. Idempotent. */
export async function removeOwnRefs(git: Git, site: Site): Promise<void> {
  const { branch, pins, repository } = site;
  const { commonDirectory } = repository;
  for (const ref of await listed(git, site)) removeLoose(commonDirectory, ref);
  removeLoose(commonDirectory, branch);
  rmSync(`${commonDirectory}/logs/${branch}`, { force: true });
  rmSync(`${commonDirectory}/${pins}`, { recursive: true, force: true });
  const packed = await listed(git, site);
  if (packed.length > 0) {
    const input = Buffer.from(packed.map((ref) => `delete ${ref}\0\0`).join(""), "utf8");
    await git.run(["update-ref", "-z", "--no-deref", "--stdin"], {
      ...inRepository(repository),
      input,
    });
  }
  for (const folder of [FOLDER, `logs/${FOLDER}`]) removeIfEmpty(`${commonDirectory}/${folder}`);
}

async function listed(git: Git, { branch, pins, repository }: Site): Promise<string[]> {
  const args = ["for-each-ref", "--format=%(refname)", branch, `${pins}/`];
  const output = await git.line(args, inRepository(repository));
  return output === "" ? [] : output.split("\n");
}

function removeLoose(commonDirectory: string, ref: string): void {
  rmSync(`${commonDirectory}/${ref}`, { force: true });
  removeLock(commonDirectory, ref);
}

/** The lock of a ref of ours is that of a git that we started and that was killed. */
function removeLock(commonDirectory: string, ref: string): void {
  rmSync(`${commonDirectory}/${ref}.lock`, { force: true });
}
