import { rm } from "node:fs/promises";
import {
  hasFields,
  type RecordFormat,
  readRecord,
  writeRecord,
} from "../../journal/record-file.ts";
import type { RelativePath } from "../../model/byte-path.ts";
import { type GitEntry, type RawChange, parseRaw } from "./git-output.ts";
import type { Git, GitCall } from "./git.ts";
import type { Site } from "./site.ts";

/** A path at which somebody said that the sandbox's version counts. */
export interface Settled {
  /** What the branch had there then. */
  readonly theirs: GitEntry | null;
  /** The path that stands for all that belong to the same conflict: together they count, or none of them. */
  readonly conflict: RelativePath;
}

/** The settled paths of a sandbox. */
export type Resolutions = ReadonlyMap<RelativePath, Settled>;

interface Stored {
  readonly paths: readonly (readonly [
    path: string,
    theirs: GitEntry | null,
    conflict?: string | undefined,
  ])[];
}

const FORMAT: RecordFormat<Stored> = {
  name: "git-resolutions",
  version: 1,
  isData: (value): value is Stored =>
    hasFields(value, {}) && Array.isArray((value as { readonly paths?: unknown }).paths),
};

const fileOf = ({ folder }: Site): string => `${folder}/resolutions.json`;

/** What was settled in a sandbox. */
export async function readResolutions(site: Site): Promise<Map<RelativePath, Settled>> {
  const stored = await readRecord(fileOf(site), FORMAT);
  return new Map(
    stored?.paths.map(([path, theirs, conflict = path]) => [
      path as RelativePath,
      { theirs, conflict: conflict as RelativePath },
    ]),
  );
}

/** Remembers durably what was settled. */
export function writeResolutions(site: Site, resolutions: Resolutions): Promise<void> {
  const paths = [...resolutions].map(
    ([path, { theirs, conflict }]) => [path, theirs, conflict] as const,
  );
  return writeRecord(fileOf(site), FORMAT, { paths });
}

/** Forgets everything that was settled: the sandbox has another state now. */
export async function forgetResolutions(site: Site): Promise<void> {
  await rm(fileOf(site), { force: true });
}

/** Two commits to be merged. */
export interface Sides {
  readonly tip: string;
  readonly commit: string;
}

/** What each side of a merge has changed since both were one, by path. */
export interface SideChanges {
  readonly base: string;
  readonly theirs: ReadonlyMap<RelativePath, RawChange>;
  readonly ours: ReadonlyMap<RelativePath, RawChange>;
}

/** Looks what two commits have changed. */
export async function changesOfSides(
  git: Git,
  call: GitCall,
  { tip, commit }: Sides,
): Promise<SideChanges> {
  const base = await git.line(["merge-base", tip, commit], call);
  const theirs = await changedBetween(git, call, base, tip);
  const ours = await changedBetween(git, call, base, commit);
  return { base, theirs, ours };
}

/**
 * What the sandbox has at the settled paths, which a merge then has as well. Conflicts at whose paths the branch has
 * changed something since count as unsettled, and those of which the sandbox has no edit any more as none.
 */
export function settledEntries(
  resolutions: Resolutions,
  { theirs, ours }: SideChanges,
): ReadonlyMap<RelativePath, GitEntry | null> {
  const [outdated, edited] = [new Set<RelativePath>(), new Set<RelativePath>()];
  for (const [path, settled] of resolutions) {
    if (ours.has(path)) edited.add(settled.conflict);
    // Where the branch changed nothing it has what the sandbox began with; undefined where nobody changed anything.
    const present = theirs.has(path) ? theirs.get(path)?.after : ours.get(path)?.before;
    if (present !== undefined && !isSame(present, settled.theirs)) outdated.add(settled.conflict);
  }
  const entries = new Map<RelativePath, GitEntry | null>();
  for (const [path, { conflict }] of resolutions) {
    const own = ours.has(path) ? ours.get(path)?.after : theirs.get(path)?.before;
    if (own !== undefined && edited.has(conflict) && !outdated.has(conflict))
      entries.set(path, own);
  }
  return entries;
}

/** What differs between two commits, by path. */
export async function changedBetween(
  git: Git,
  call: GitCall,
  from: string,
  to: string,
): Promise<Map<RelativePath, RawChange>> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", from, to];
  return new Map(parseRaw(await git.run(args, call)).map((change) => [change.path, change]));
}

function isSame(a: GitEntry | null, b: GitEntry | null): boolean {
  return a?.mode === b?.mode && a?.oid === b?.oid;
}
