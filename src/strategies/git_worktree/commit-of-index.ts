import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { copyIndex } from "./copy-index.ts";
import { joinZero, splitZero } from "./git-output.ts";
import type { Git, GitCall } from "./git.ts";
import { type Site, privately } from "./site.ts";

/** Nobody ever sees these commits; with a time of their own two of the same state would be two objects. */
const OURS = Object.fromEntries(
  ["AUTHOR", "COMMITTER"].flatMap((who) => [
    [`GIT_${who}_NAME`, "Cofferdam"],
    [`GIT_${who}_EMAIL`, "cofferdam@localhost"],
    [`GIT_${who}_DATE`, "@0 +0000"],
  ]),
);

/**
 * Writes a commit from which the given commits and everything that an index names can be reached, also the sides of a
 * merge that is not resolved. The index stays as it is; a ref to the commit keeps all of it from being collected.
 */
export async function commitOfIndex(
  git: Git,
  site: Site,
  index: string,
  commits: readonly string[],
): Promise<string> {
  // git would write what it has found out into the index, with another time.
  const own = `${index}.own`;
  const sides = `${index}.sides`;
  try {
    copyIndex(index, own);
    const call = privately(site, { index: own });
    const entries = splitZero(await git.run(["ls-files", "-s", "-z"], call));
    const unmerged = entries.filter((entry) => / [1-3]$/.test(headOf(entry)));
    // A path that was added without its content has that of an empty file, and no tree gets it.
    const empty = entries.filter((entry) => headOf(entry).endsWith(` ${emptyBlob(site)} 0`));
    const parents = [...commits];
    const apart = [...unmerged, ...empty];
    if (apart.length > 0)
      parents.push(await commitOfSides(git, privately(site, { index: sides }), apart));
    if (unmerged.length > 0) await fillIndex(git, call, unmerged.map(removal));
    return await commitOf(git, call, parents);
  } finally {
    for (const file of [own, sides]) await rm(file, { force: true });
  }
}

/** No tree can have several sides of a path: each gets a folder. */
async function commitOfSides(git: Git, call: GitCall, entries: readonly string[]): Promise<string> {
  const lines = entries.map((entry) => entry.replace(/ ([0-3])\t/, "\t$1/"));
  await fillIndex(git, call, lines);
  return commitOf(git, call, []);
}

/** Mode, object and side of an entry. */
function headOf(entry: string): string {
  return entry.slice(0, entry.indexOf("\t"));
}

function emptyBlob({ repository }: Site): string {
  return createHash(repository.objectFormat).update("blob 0\0").digest("hex");
}

function removal(entry: string): string {
  const [, oid = ""] = entry.split(" ");
  return `0 ${"0".repeat(oid.length)}${entry.slice(entry.indexOf("\t"))}`;
}

async function fillIndex(git: Git, call: GitCall, lines: readonly string[]): Promise<void> {
  await git.run(["update-index", "-z", "--index-info"], { ...call, input: joinZero(lines) });
}

async function commitOf(git: Git, call: GitCall, parents: readonly string[]): Promise<string> {
  const tree = await git.line(["write-tree"], call);
  const args = [...new Set(parents)].flatMap((parent) => ["-p", parent]);
  return git.line(["commit-tree", tree, ...args, "-m", "kept"], {
    ...call,
    env: { ...call.env, ...OURS },
  });
}
