import { existsSync } from "node:fs";
import { copyFile, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { splitZero } from "./git-output.ts";
import type { Git } from "./git.ts";
import { plainContent } from "./program-files.ts";
import { type Repository, inRepository } from "./repository.ts";
import type { Site } from "./site.ts";

/** Settings of a repository that say what its files mean, and who may write to it; none of them can name a program. */
const KEPT = new Set([
  "core.attributesfile",
  "core.autocrlf",
  "core.bigfilethreshold",
  "core.checkroundtripencoding",
  "core.eol",
  "core.excludesfile",
  "core.filemode",
  "core.ignorecase",
  "core.precomposeunicode",
  "core.protecthfs",
  "core.protectntfs",
  "core.sharedrepository",
  "core.sparsecheckout",
  "core.sparsecheckoutcone",
  "core.symlinks",
  "merge.renamelimit",
  "merge.renames",
  "user.email",
  "user.name",
]);

/** Where git-lfs keeps the large files, when it is not the usual place. */
const LARGE_FILES = "lfs.storage";

/** Files of the repository that say what its files mean, and where they are. */
const INFO = ["exclude", "attributes"];

/** Settings by which the worktree was checked out, in the text of our configuration: they are right until it is renewed. */
const SPARSE = /\[core\]\n\tsparsecheckout(?:cone)? = .*\n/g;

/**
 * Makes a git directory of our own: it has the objects of the repository, and of its settings only those that cannot
 * start a program. Filters, drivers and hooks that the repository defines do not exist for it.
 */
export async function makePrivateGit(git: Git, site: Site): Promise<void> {
  const { privateGit, repository } = site;
  for (const folder of ["refs", "objects", "info"]) {
    await mkdir(`${privateGit}/${folder}`, { recursive: true, mode: 0o700 });
  }
  await writeFile(`${privateGit}/HEAD`, "ref: refs/heads/none\n", { mode: 0o600 });
  await rm(`${privateGit}/config`, { force: true });
  await renewPrivateGit(git, site, "new");
  const patterns = `${repository.gitDirectory}/info/sparse-checkout`;
  if (existsSync(patterns)) await copyFile(patterns, `${privateGit}/info/sparse-checkout`);
}

/**
 * Brings the settings of our git directory, and what it ignores, to what the repository has now: whoever looks at the
 * worktree has to see what git itself would see. `name` is one that no other call has.
 */
export async function renewPrivateGit(
  git: Git,
  { privateGit, repository }: Site,
  name: string,
): Promise<void> {
  const listed = await git.run(["config", "--list", "-z", "--includes"], inRepository(repository));
  const config = `${privateGit}/config`;
  const present = plainContent(config)?.toString("utf8");
  const text = configOf(listed, repository);
  const renewed =
    present === undefined
      ? text
      : text.replace(SPARSE, "") + (present.match(SPARSE) ?? []).join("");
  await become(config, Buffer.from(renewed, "utf8"), name);
  for (const file of INFO) {
    const content = plainContent(`${repository.commonDirectory}/info/${file}`);
    await become(`${privateGit}/info/${file}`, content, name);
  }
}

function configOf(listed: Buffer, { objectFormat, commonDirectory }: Repository): string {
  // A filter of the user's own settings has to find, and leave, large files where the repository has them.
  const kept = new Map([[LARGE_FILES, "lfs"]]);
  for (const part of splitZero(listed)) {
    const cut = part.indexOf("\n");
    const key = cut < 0 ? part : part.slice(0, cut);
    const value = cut < 0 ? "true" : Buffer.from(part.slice(cut + 1), "latin1").toString("utf8");
    if (KEPT.has(key) || key === LARGE_FILES) kept.set(key, value);
  }
  kept.set(LARGE_FILES, resolve(commonDirectory, kept.get(LARGE_FILES) ?? ""));
  const lines = [...kept].map(([key, value]) => {
    const [section = "", name = ""] = key.split(".");
    return `[${section}]\n\t${name} = ${quoted(value)}\n`;
  });
  return `[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = ${objectFormat}\n${lines.join("")}`;
}

function quoted(value: string): string {
  const escaped = value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return `"${escaped}"`;
}

/** Gives a file its content in one step, for those who read it meanwhile; null for none. */
async function become(file: string, content: Buffer | null, name: string): Promise<void> {
  if (content === null) return rm(file, { force: true });
  if (plainContent(file)?.equals(content) === true) return;
  const fresh = `${file}.${name}`;
  await writeFile(fresh, content, { mode: 0o600 });
  await rename(fresh, file);
}
