import { rm } from "node:fs/promises";
import { type RelativePath, ancestorsOf } from "../../model/byte-path.ts";
import type { ConflictReason } from "../../model/conflict.ts";
import { MergeConflictError, type PathConflict } from "./failures.ts";
import { type GitEntry, joinZero, splitZero } from "./git-output.ts";
import type { Git, GitCall } from "./git.ts";
import { namesAmong, renamesBetween } from "./renames.ts";
import {
  type SideChanges,
  type Sides,
  changesOfSides,
  readResolutions,
  settledEntries,
} from "./resolutions.ts";
import type { Site } from "./site.ts";

/** What git could not bring together at one path. */
interface Unmerged {
  /** The contents: 1 is what both began with, 2 the branch's, 3 the sandbox's. */
  readonly oids: Map<string, string>;
  /** Where git has put them, which may be aside of the path. */
  readonly places: Set<RelativePath>;
  /** Paths that git names together with it. */
  readonly related: Set<RelativePath>;
}

/** Conflicts by path, with the paths that the sandbox's diff has for each of them. */
type Named = ReadonlyMap<RelativePath, readonly RelativePath[]>;

/**
 * Merges in the object database and gives the tree. What was settled has no part in the merge, which would take other
 * files for renamed then: the sandbox's version is put over what comes out.
 * @throws SandboxConflictError (`SANDBOX_CONFLICT`) with the paths that both sides changed.
 */
export async function mergeTrees(
  git: Git,
  site: Site,
  call: GitCall,
  sides: Sides,
): Promise<string> {
  const merged = [sides.tip, sides.commit];
  const args = ["merge-tree", "--write-tree", "-z", "--messages", ...merged];
  const { exitCode, stdout } = await git.ask(args, { ...call, accept: [0, 1] });
  const [tree = "", ...told] = splitZero(stdout);
  const resolutions = await readResolutions(site);
  if (exitCode === 0 && resolutions.size === 0) return tree;
  const unmerged = unmergedAmong(told, merged);
  const changes = await changesOfSides(git, call, sides);
  const renames = [
    ...(await renamesBetween(git, call, changes.base, sides.tip)),
    ...(await renamesBetween(git, call, changes.base, sides.commit)),
  ];
  const named = namesOfConflicts(unmerged, changes, namesAmong(renames));
  const settled = settledEntries(resolutions, changes);
  const open = [...named].filter(([path, names]) => !isSettled(settled, path, names));
  // git may also find a conflict without a file.
  const isUnknown = exitCode !== 0 && unmerged.size === 0;
  if (open.length > 0 || isUnknown) throw conflictOf(unmerged, open, renames);
  return settledTree(git, site, call, tree, entriesToPut(unmerged, settled, changes));
}

/** Entries of conflicts, and behind an empty part what git says of them. */
function unmergedAmong(
  told: readonly string[],
  sides: readonly string[],
): ReadonlyMap<RelativePath, Unmerged> {
  const end = told.indexOf("");
  const found = new Map<RelativePath, Unmerged>();
  for (const line of told.slice(0, end < 0 ? told.length : end)) {
    const [, oid = "", side = "", place = ""] = /^\S+ (\S+) ([1-3])\t(.*)$/s.exec(line) ?? [];
    const path = withoutSide(place, sides) as RelativePath;
    const one = found.get(path) ?? { oids: new Map(), places: new Set(), related: new Set() };
    one.oids.set(side, oid);
    one.places.add(place as RelativePath);
    found.set(path, one);
  }
  if (end >= 0) relate(found, told.slice(end + 1), sides);
  return found;
}

/** A message is the number of its paths, these, what it is about, and a text for people. */
function relate(
  unmerged: ReadonlyMap<RelativePath, Unmerged>,
  messages: readonly string[],
  sides: readonly string[],
): void {
  for (let at = 0; at < messages.length;) {
    const count = Number(messages[at]);
    const paths = messages.slice(at + 1, at + 1 + count).map((path) => withoutSide(path, sides));
    const isConflict = messages[at + 1 + count]?.startsWith("CONFLICT") === true;
    for (const path of isConflict ? (paths as RelativePath[]) : [])
      for (const other of paths as RelativePath[]) unmerged.get(path)?.related.add(other);
    at += count + 3;
  }
}

/** Where a file and a folder, or a link, want one place, git puts one aside and adds the name of its side: `x~main`. */
function withoutSide(place: string, sides: readonly string[]): string {
  for (const side of sides) {
    const at = place.lastIndexOf(`~${side}`);
    if (at > 0 && /^(?:_\d+)?$/.test(place.slice(at + 1 + side.length))) return place.slice(0, at);
  }
  return place;
}

/** Where the branch alone has a name for a file, the conflict is that of the names that the sandbox has for it. */
function namesOfConflicts(
  unmerged: ReadonlyMap<RelativePath, Unmerged>,
  { ours }: SideChanges,
  namesOf: (path: RelativePath) => readonly RelativePath[],
): Named {
  const own = new Set([...ours.keys()].flatMap((path) => [path, ...ancestorsOf(path)]));
  const named = new Map<RelativePath, readonly RelativePath[]>();
  for (const [path, { oids, related }] of unmerged) {
    if (own.has(path)) named.set(path, [path]);
    else {
      // What a merge takes for renamed need not be the same as in a diff: git says so, or the contents tell.
      const known = [
        [...related].filter((name) => own.has(name)),
        pathsOf(ours, oids.get("1"), oids.get("3")),
        namesOf(path).filter((name) => own.has(name)),
      ];
      named.set(path, known.find((names) => names.length > 0) ?? [path]);
    }
  }
  return named;
}

/** Where the sandbox has made one content of another. */
function pathsOf(
  ours: SideChanges["ours"],
  before: string | undefined,
  after: string | undefined,
): readonly RelativePath[] {
  if (before === undefined) return [];
  return [...ours.values()]
    .filter((one) => one.before?.oid === before && one.after?.oid === after)
    .map(({ path }) => path);
}

/** Whether the sandbox's version counts at a path, or at all names that the sandbox has for what is in conflict there. */
function isSettled(
  settled: ReadonlyMap<RelativePath, unknown>,
  path: RelativePath,
  names: readonly RelativePath[],
): boolean {
  return settled.has(path) || names.every((name) => settled.has(name));
}

/** By the sides that a path has. */
const REASONS: Readonly<Record<string, ConflictReason>> = { "13": "missing", "12": "changed" };

function conflictOf(
  unmerged: ReadonlyMap<RelativePath, Unmerged>,
  open: readonly (readonly [RelativePath, readonly RelativePath[]])[],
  renames: MergeConflictError["renames"],
): MergeConflictError {
  const conflicts = new Map<RelativePath, PathConflict>();
  const places = new Map<RelativePath, RelativePath[]>();
  for (const [path, names] of open) {
    const stages = [...(unmerged.get(path)?.oids.keys() ?? [])].join("");
    const reason = REASONS[stages] ?? "overlap";
    for (const name of names) {
      if (!conflicts.has(name)) conflicts.set(name, { path: name, reason });
      places.set(name, [...(places.get(name) ?? []), path]);
    }
  }
  return new MergeConflictError([...conflicts.values()], renames, places);
}

/**
 * What has to stand where something was settled: the sandbox's version, and at a path that is in conflict with it without
 * belonging to it, the branch's. What git has put aside goes.
 */
function entriesToPut(
  unmerged: ReadonlyMap<RelativePath, Unmerged>,
  settled: ReadonlyMap<RelativePath, GitEntry | null>,
  { theirs }: SideChanges,
): ReadonlyMap<RelativePath, GitEntry | null> {
  const entries = new Map<RelativePath, GitEntry | null>();
  for (const [path, { places }] of unmerged) {
    for (const place of places) entries.set(place, null);
    entries.set(path, theirs.get(path)?.after ?? null);
  }
  for (const [path, entry] of settled) entries.set(path, entry);
  return entries;
}

async function settledTree(
  git: Git,
  site: Site,
  call: GitCall,
  tree: string,
  entries: ReadonlyMap<RelativePath, GitEntry | null>,
): Promise<string> {
  if (entries.size === 0) return tree;
  const index = `${site.folder}/settled.index`;
  const own: GitCall = { ...call, env: { ...call.env, GIT_INDEX_FILE: index } };
  const gone = { mode: "0", oid: "0".repeat(tree.length) };
  // A folder may have to go before a file can be put in its place.
  const sorted = [...entries].toSorted(([, a], [, b]) => Number(a !== null) - Number(b !== null));
  const lines = sorted.map(([path, entry]) => {
    const { mode, oid } = entry ?? gone;
    return `${mode} ${oid}\t${path}`;
  });
  try {
    await git.run(["read-tree", tree], own);
    const how = ["-z", "--add", "--replace", "--index-info"];
    await git.run(["update-index", ...how], { ...own, input: joinZero(lines) });
    return await git.line(["write-tree"], own);
  } finally {
    await rm(index, { force: true });
  }
}
