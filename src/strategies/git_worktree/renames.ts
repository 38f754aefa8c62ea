import { addToList } from "../../model/add-to-list.ts";
import type { RelativePath } from "../../model/byte-path.ts";
import { splitZero } from "./git-output.ts";
import type { Git, GitCall } from "./git.ts";

/** A file under its old and its new name. */
export type Rename = readonly [from: RelativePath, to: RelativePath];

/** With more candidates than this on both sides git only pairs files of the same content or the same name. */
const MOST_COMPARED = 1000;

/** What was renamed between two commits, also with edits, as a merge follows it. */
export async function renamesBetween(
  git: Git,
  call: GitCall,
  from: string,
  to: string,
): Promise<Rename[]> {
  const how = ["--find-renames=50%", `-l${MOST_COMPARED}`, "--diff-filter=R", "--name-status"];
  const parts = splitZero(await git.run(["diff-tree", "-r", "-z", ...how, from, to], call));
  const renames: Rename[] = [];
  for (let at = 0; at + 2 < parts.length; at += 3)
    renames.push([parts[at + 1] as RelativePath, parts[at + 2] as RelativePath]);
  return renames;
}

/** Whether all of these are names of files that both sides of a merge have renamed, each to a name of its own. */
export function areRenamedTwice(
  paths: readonly RelativePath[],
  renames: readonly Rename[],
): boolean {
  const targets = new Map<RelativePath, ReadonlySet<RelativePath>>();
  for (const [from, to] of renames) targets.set(from, new Set([...(targets.get(from) ?? []), to]));
  const twice = [...targets].filter(([, names]) => names.size > 1);
  const known = new Set(twice.flatMap(([from, names]) => [from, ...names]));
  return paths.every((path) => known.has(path));
}

/** Gives every name of the file at a path, the path first: either side of a merge may have renamed it. */
export function namesAmong(
  renames: readonly Rename[],
): (path: RelativePath) => readonly RelativePath[] {
  const others = new Map<RelativePath, RelativePath[]>();
  for (const [from, to] of renames) {
    addToList(others, from, to);
    addToList(others, to, from);
  }
  return (path) => {
    const names = new Set([path]);
    // What is added while this runs is visited as well.
    for (const name of names) for (const other of others.get(name) ?? []) names.add(other);
    return [...names];
  };
}
