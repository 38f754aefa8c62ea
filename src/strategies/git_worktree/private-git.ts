import { existsSync } from "node:fs";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { splitZero } from "./git-output.ts";
import type { Git } from "./git.ts";
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
  const listed = await git.run(["config", "--list", "-z", "--includes"], inRepository(repository));
  await writeFile(`${privateGit}/config`, configOf(listed, repository), {
    mode: 0o600,
  });
  for (const name of INFO) {
    await copyIfThere(`${repository.commonDirectory}/info/${name}`, `${privateGit}/info/${name}`);
  }
  const patterns = `${repository.gitDirectory}/info/sparse-checkout`;
  await copyIfThere(patterns, `${privateGit}/info/sparse-checkout`);
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

async function copyIfThere(from: string, to: string): Promise<void> {
  if (existsSync(from)) await copyFile(from, to);
}
