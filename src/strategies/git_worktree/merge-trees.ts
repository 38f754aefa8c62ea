import { type RelativePath, ancestorsOf } from "../../model/byte-path.ts";
import type { ConflictReason } from "../../model/conflict.ts";
import { MergeConflictError, type PathConflict } from "./failures.ts";
import { splitZero } from "./git-output.ts";
import type { Git, GitCall } from "./git.ts";
import { namesAmong, renamesBetween } from "./renames.ts";
import { type Sides, changedBetween } from "./resolutions.ts";

/**
 * Merges in the object database and gives the tree. `settled` are the sides with what was settled, `sides` those that
 * conflicts are told of.
 * @throws SandboxConflictError (`SANDBOX_CONFLICT`) with the paths that both sides changed.
 */
export async function mergeTrees(
  git: Git,
  call: GitCall,
  sides: Sides,
  settled: Sides,
): Promise<string> {
  const merged = [settled.tip, settled.commit];
  const args = ["merge-tree", "--write-tree", "-z", "--no-messages", ...merged];
  const { exitCode, stdout } = await git.ask(args, { ...call, accept: [0, 1] });
  const [tree = "", ...entries] = splitZero(stdout);
  if (exitCode === 0) return tree;
  const found = new Map<RelativePath, string>();
  for (const entry of entries) {
    const [, side = "", place = ""] = /^\S+ \S+ ([1-3])\t(.*)$/s.exec(entry) ?? [];
    const path = withoutSide(place, merged) as RelativePath;
    found.set(path, (found.get(path) ?? "") + side);
  }
  throw await conflictOf(git, call, sides, found);
}

/** Where a file and a folder, or a link, want one place, git puts one aside and adds the name of its side: `x~main`. */
function withoutSide(place: string, sides: readonly string[]): string {
  for (const side of sides) {
    const at = place.lastIndexOf(`~${side}`);
    if (at > 0 && /^(?:_\d+)?$/.test(place.slice(at + 1 + side.length))) return place.slice(0, at);
  }
  return place;
}

/** By the sides that a path has: 1 is what both began with, 2 the branch, 3 the sandbox. */
const REASONS: Readonly<Record<string, ConflictReason>> = { "13": "missing", "12": "changed" };

/** Where the branch alone has a name for a file, the conflict is told at the names that the sandbox has for it. */
async function conflictOf(
  git: Git,
  call: GitCall,
  { tip, commit }: Sides,
  found: ReadonlyMap<RelativePath, string>,
): Promise<MergeConflictError> {
  const base = await git.line(["merge-base", tip, commit], call);
  const renames = [
    ...(await renamesBetween(git, call, base, tip)),
    ...(await renamesBetween(git, call, base, commit)),
  ];
  const edited = [...(await changedBetween(git, call, base, commit)).keys()];
  const own = new Set(edited.flatMap((path) => [path, ...ancestorsOf(path)]));
  const namesOf = namesAmong(renames);
  const conflicts = new Map<RelativePath, PathConflict>();
  for (const [path, stages] of found) {
    const known = own.has(path) ? [path] : namesOf(path).filter((name) => own.has(name));
    const reason = REASONS[stages] ?? "overlap";
    for (const name of known.length > 0 ? known : [path])
      if (!conflicts.has(name)) conflicts.set(name, { path: name, reason });
  }
  return new MergeConflictError([...conflicts.values()], renames);
}
