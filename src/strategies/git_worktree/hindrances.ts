import type { RelativePath } from "../../model/byte-path.ts";
import { type GitEntry, SUBMODULE, joinZero } from "./git-output.ts";
import type { Git, GitCall } from "./git.ts";
import type { Site } from "./site.ts";
import {
  type TouchedSubmodule,
  insideRepository,
  submoduleMoved,
  touchedSubmodules,
} from "./submodules.ts";
import { type Unresolved, conflictsIn, findUnresolved, unresolvedError } from "./unresolved.ts";

/**
 * Why a commit refuses what a path has: a conflict that nobody resolved, edits inside a submodule, or a repository that
 * the one around it does not know.
 */
export type Hindrance = "unresolved" | "inside" | "repository";

/** What a commit refuses, by path. */
export type Hindrances = ReadonlyMap<RelativePath, Hindrance>;

/** What somebody who only looks is told. */
export interface ToldHindrances {
  readonly hindrances: Map<RelativePath, Hindrance>;
  /** The side of each conflict that stands for it in the private index. */
  readonly shown: ReadonlyMap<RelativePath, GitEntry>;
}

/** The worktree's entries, and how they are looked at. */
export interface Looked {
  /** Lines of `ls-files -s`. */
  readonly lines: readonly string[];
  /** A name for private files that no other call has. */
  readonly name: string;
  /** With the private index. */
  readonly call: GitCall;
}

/**
 * Refuses conflicts that nobody resolved, and submodules that are not as recorded.
 * @throws SandboxCommitError (`SANDBOX_COMMIT`, reason `submodule`), SandboxConflictError (`SANDBOX_CONFLICT`).
 */
export async function refuseHindrances(git: Git, site: Site, looked: Looked): Promise<void> {
  const { submodules, unresolved } = await findHindrances(git, site, looked);
  for (const { path, movedTo } of submodules)
    throw movedTo === null ? insideRepository(path) : submoduleMoved(path);
  if (unresolved.length > 0) throw unresolvedError(unresolved);
}

/**
 * Finds the same for somebody who only looks, and gives the private index entries that can be told: one for each
 * conflict, and for a submodule the commit that it was moved on to, as `git add` would.
 */
export async function tellHindrances(
  git: Git,
  site: Site,
  looked: Looked,
): Promise<ToldHindrances> {
  const { conflicts, submodules, unresolved } = await findHindrances(git, site, looked);
  const shown = new Map<RelativePath, GitEntry>();
  for (const [path, sides] of conflicts) {
    const side = sides.find(({ stage }) => stage > 1) ?? sides[0];
    if (side !== undefined) shown.set(path, side);
  }
  const line = (path: RelativePath, { mode, oid }: GitEntry): string => `${mode} ${oid}\t${path}`;
  const lines = [...shown].map(([path, side]) => line(path, side));
  for (const { path, movedTo } of submodules)
    if (movedTo !== null) lines.push(line(path, { mode: SUBMODULE, oid: movedTo }));
  if (lines.length > 0) {
    const args = ["update-index", "-z", "--add", "--replace", "--index-info"];
    await git.run(args, { ...looked.call, input: joinZero(lines) });
  }
  const hindrances = new Map<RelativePath, Hindrance>([
    ...unresolved.map(({ path }) => [path, "unresolved"] as const),
    ...submodules.flatMap(({ path, movedTo }) =>
      movedTo === null ? [[path, "inside"] as const] : [],
    ),
  ]);
  return { hindrances, shown };
}

interface Found {
  readonly conflicts: ReturnType<typeof conflictsIn>;
  readonly submodules: readonly TouchedSubmodule[];
  readonly unresolved: readonly Unresolved[];
}

async function findHindrances(git: Git, site: Site, { lines, name, call }: Looked): Promise<Found> {
  const conflicts = conflictsIn(lines);
  const submodules = await touchedSubmodules(git, site, lines, name);
  return { conflicts, submodules, unresolved: await findUnresolved(git, site, call, conflicts) };
}
