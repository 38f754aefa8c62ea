import { rm } from "node:fs/promises";
import type { StrategyHost } from "../../contract/host.ts";
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
import { writeCommit } from "./write-commit.ts";

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

/** Two commits to be merged, and what their merge is based on. */
export interface Sides {
  readonly tip: string;
  readonly commit: string;
}

/**
 * Both sides with a common ancestor of their own, in which every settled path is what the branch has: a merge of the two
 * takes the sandbox's version there. Conflicts at whose paths the branch has changed something since count as unsettled.
 * Null when nothing is settled.
 */
export async function settledSides(
  host: StrategyHost,
  git: Git,
  site: Site,
  call: GitCall,
  { tip, commit }: Sides,
): Promise<Sides | null> {
  const resolutions = await readResolutions(site);
  if (resolutions.size === 0) return null;
  const base = await git.line(["merge-base", tip, commit], call);
  const theirs = await changedBetween(git, call, base, tip);
  const ours = await changedBetween(git, call, base, commit);
  // Where the branch changed nothing it has what the sandbox began with; undefined where nobody changed anything.
  const present = (path: RelativePath): GitEntry | null | undefined =>
    theirs.has(path) ? theirs.get(path)?.after : ours.get(path)?.before;
  const outdated = new Set<RelativePath>();
  for (const [path, settled] of resolutions) {
    const found = present(path);
    if (found !== undefined && !isSame(found, settled.theirs)) outdated.add(settled.conflict);
  }
  const valid = [...resolutions].filter(
    ([path, { conflict }]) => !outdated.has(conflict) && present(path) !== undefined,
  );
  if (valid.length === 0) return null;
  const index = `${site.folder}/settled.index`;
  const own: GitCall = { ...call, env: { ...call.env, GIT_INDEX_FILE: index } };
  try {
    await git.run(["read-tree", base], own);
    const lines = valid.map(([path, { theirs: entry }]) => indexLine(path, entry, base.length));
    const input = Buffer.from(lines.join(""), "latin1");
    await git.run(["update-index", "-z", "--add", "--replace", "--index-info"], { ...own, input });
    const message = "settled";
    const write = (tree: string, parents: readonly string[]): Promise<string> =>
      writeCommit(host, git, site, call, { tree, parents, message });
    const ancestor = await write(await git.line(["write-tree"], own), []);
    return {
      tip: await write(`${tip}^{tree}`, [ancestor]),
      commit: await write(`${commit}^{tree}`, [ancestor]),
    };
  } finally {
    await rm(index, { force: true });
  }
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

function indexLine(path: RelativePath, entry: GitEntry | null, digits: number): string {
  const { mode, oid } = entry ?? { mode: "0", oid: "0".repeat(digits) };
  return `${mode} ${oid}\t${path}\0`;
}

function isSame(a: GitEntry | null, b: GitEntry | null): boolean {
  return a?.mode === b?.mode && a?.oid === b?.oid;
}
