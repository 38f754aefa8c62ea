import { lstatSync, readFileSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../platform/run.ts";
import type { ShownFolder } from "./shown-sandbox.ts";
import type { LinkedWorktree } from "./worktree.ts";

/** A linked worktree and its git directory. */
interface WorktreePlace {
  readonly files: string;
  readonly git: string;
}

/** A linked worktree where it lies, and where a command sees it. */
export interface SeenWorktree {
  readonly real: WorktreePlace;
  readonly seen: WorktreePlace;
}

/** Where a worktree lies and is seen whose repository is seen at `shownAt`. */
export function seenWorktree(
  { location, workspace }: Pick<ShownFolder, "location" | "workspace">,
  { repository, name }: LinkedWorktree,
  shownAt: string,
): SeenWorktree {
  return {
    real: { files: workspace, git: join(repository, "worktrees", name) },
    seen: { files: location, git: join(shownAt, "worktrees", name) },
  };
}

/**
 * Runs the work of a command with the submodules of worktrees linked as the command sees them, and links them as they
 * lie afterwards, also those that it has filled: git writes both ends of the link by their places. A killed command
 * leaves its own links, until the next one ends.
 */
export async function withSubmodules<T>(
  worktrees: readonly SeenWorktree[],
  work: () => Promise<T>,
): Promise<T> {
  for (const { real, seen } of worktrees) await linkSubmodules(real, seen);
  try {
    return await work();
  } finally {
    for (const { real } of worktrees) await linkSubmodules(real, real);
  }
}

/** Links all filled submodules of a worktree by the places that it has for somebody. */
async function linkSubmodules(real: WorktreePlace, places: WorktreePlace): Promise<void> {
  const modules = join(real.git, "modules");
  if (!isReal(modules)) return;
  for (const name of repositoriesIn(modules)) {
    const config = join(modules, name, "config");
    const link = `/${join(lastOf(real.git), "modules", name)}`;
    const folder = submoduleOf(real.files, await readWorktree(config), link);
    if (folder === null) continue;
    await git("config", "-f", config, "core.worktree", join(places.files, folder));
    const text = `gitdir: ${join(places.git, "modules", name)}\n`;
    writeFileSync(join(real.files, folder, ".git"), text);
  }
}

/** Names of the repositories in a folder, those inside of others as `lib/modules/inner`. Links lead anywhere. */
function repositoriesIn(folder: string): string[] {
  return foldersIn(folder).flatMap((name) => {
    const inside = (at: string): string[] =>
      repositoriesIn(join(folder, at)).map((inner) => join(at, inner));
    if (!isFile(join(folder, name, "HEAD"))) return inside(name);
    const isOwn = isFile(join(folder, name, "config"));
    return [...(isOwn ? [name] : []), ...inside(join(name, "modules"))];
  });
}

function foldersIn(folder: string): string[] {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? entry.name : [],
  );
}

/**
 * The folder of a submodule in its worktree, by the place that its repository has for it, whoever saw it there: what
 * that ends with, if the folder leads back. Null where none does.
 */
function submoduleOf(files: string, place: string | null, link: string): string | null {
  const names = (place ?? "").split("/").filter((name) => name !== ".." && name !== "");
  for (let from = 0; from < names.length; from++) {
    const folder = names.slice(from).join("/");
    if (leadsTo(join(realpathSync(files), folder), link)) return folder;
  }
  return null;
}

/** Whether a folder, without any link on the way, has a file that ends as the link to a repository does. */
function leadsTo(folder: string, link: string): boolean {
  const file = join(folder, ".git");
  if (!isReal(folder) || !isFile(file)) return false;
  const text = readFileSync(file, "utf8");
  return text.startsWith("gitdir: ") && text.endsWith(`${link}\n`);
}

/** Whether it is there, and no link leads to it. */
function isReal(path: string): boolean {
  try {
    return realpathSync(path) === path;
  } catch {
    // There is nothing, or something else on the way.
    return false;
  }
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** The end of a git directory that tells a worktree from all others. */
function lastOf(gitDirectory: string): string {
  return gitDirectory.split("/").slice(-2).join("/");
}

async function readWorktree(config: string): Promise<string | null> {
  const found = await git("config", "-z", "-f", config, "--get", "core.worktree");
  return found === "" ? null : found.slice(0, -1);
}

/** What git says; nothing where it fails, as for settings that a command has broken. */
async function git(...args: readonly string[]): Promise<string> {
  const { exitCode, stdout } = await run("git", args, { cwd: "/" });
  return exitCode === 0 ? stdout.toString("utf8") : "";
}
