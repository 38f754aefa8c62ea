import { SandboxConflictError } from "../../errors/index.ts";
import { addToList } from "../../model/add-to-list.ts";
import type { RelativePath } from "../../model/byte-path.ts";
import { findBeneath, readBeneath } from "../../tree/beneath.ts";
import { publicPath } from "../../tree/public-path.ts";
import { fewOf } from "./failures.ts";
import { FILE, type IndexEntry, isUnmerged, parseIndexEntry } from "./git-output.ts";
import type { Git, GitCall } from "./git.ts";
import { binariesAmong, mergeRules } from "./merge-rules.ts";
import { type Site, worktreePath } from "./site.ts";

/** A path that git could not bring together and nobody has resolved. */
export interface Unresolved {
  readonly path: RelativePath;
  /** Whether taking git's marks out of the file resolves it; else git has to be told. */
  readonly hasMarkers: boolean;
}

/** The sides of one conflict, the common ancestor among them. */
type Sides = readonly IndexEntry[];

const OURS = 2;
const THEIRS = 3;
/** What the lines consist of that git puts around sides. */
const SIGNS: ReadonlySet<number> = new Set(Buffer.from("<|>"));
const [NEWLINE, SPACE] = [10, 32];
/** More cannot be read at once. */
const MOST_BYTES = 2 ** 31 - 1;
const UNTOUCHED = { originalRestored: true, undoDataAt: null, appliedCount: 0 };

/** The entries of conflicts among lines of `ls-files -s`, by path. */
export function conflictsIn(lines: readonly string[]): Map<RelativePath, Sides> {
  const found = new Map<RelativePath, IndexEntry[]>();
  for (const entry of lines.filter(isUnmerged).map(parseIndexEntry))
    addToList(found, entry.path, entry);
  return found;
}

/**
 * Those of the conflicts that are not resolved. Editing alone resolves one only where git put marks into the file, and
 * they are gone; elsewhere nothing tells a decision from what git happened to leave there.
 */
export async function findUnresolved(
  git: Git,
  site: Site,
  call: GitCall,
  conflicts: ReadonlyMap<RelativePath, Sides>,
): Promise<Unresolved[]> {
  if (conflicts.size === 0) return [];
  const rules = await mergeRules(git, site, call, [...conflicts.keys()]);
  const found: Unresolved[] = [];
  const unmarked = new Map<RelativePath, Sides>();
  for (const [path, sides] of conflicts) {
    const rule = rules.get(path);
    if (!isContentConflict(sides) || rule?.isMarked !== true)
      found.push({ path, hasMarkers: false });
    else if (isMarked(site, path, rule.markerSize)) found.push({ path, hasMarkers: true });
    else unmarked.set(path, sides);
  }
  // For a file of bytes git keeps ours, and puts no marks into it.
  const binaries = await binariesAmong(git, call, [...unmarked.values()].flat());
  for (const [path, sides] of unmarked)
    if (sides.some(({ oid }) => binaries.has(oid))) found.push({ path, hasMarkers: false });
  return found;
}

/** The error for conflicts that nobody has resolved. */
export function unresolvedError(unresolved: readonly Unresolved[]): SandboxConflictError {
  const conflicts = unresolved.map(({ path }) => ({
    ...publicPath(path),
    reason: "overlap",
    base: null,
    theirs: null,
    ours: null,
  }));
  const named = (hasMarkers: boolean): readonly string[] =>
    conflicts.flatMap(({ path }, at) => (unresolved[at]?.hasMarkers === hasMarkers ? path : []));
  const [marked, unmarked] = [named(true), named(false)];
  const hints = [
    ...(marked.length > 0 ? [`Edit ${fewOf(marked)} until no conflict markers are left.`] : []),
    ...(unmarked.length > 0
      ? [
          `Make ${fewOf(unmarked)} what it shall be, and tell git so in the worktree (\`coffer exec PLAN -- git add PATH\`, or \`git rm PATH\`).`,
        ]
      : []),
  ];
  const names = fewOf(conflicts.map(({ path }) => path));
  return new SandboxConflictError(`Conflicts in the worktree are not resolved yet: ${names}`, {
    operation: "commit",
    hint: `${hints.join(" ")} Then try again.`,
    data: {
      ...UNTOUCHED,
      failedPath: conflicts[0]?.path ?? null,
      reason: "unresolved",
      conflicts,
    },
  });
}

/** Whether both sides have a file, of different content; what one side removed, renamed or made otherwise has no marks. */
function isContentConflict(sides: Sides): boolean {
  const [ours, theirs] = [OURS, THEIRS].map((stage) => sides.find((side) => side.stage === stage));
  if (ours === undefined || theirs === undefined) return false;
  return sides.every(({ mode }) => mode.startsWith(FILE)) && ours.oid !== theirs.oid;
}

/** Whether any line of the file is one that begins or ends a side: who took only some of them out is not done. */
function isMarked(site: Site, path: RelativePath, markerSize: number): boolean {
  const root = worktreePath(site);
  const found = findBeneath(root, path);
  if (found?.type !== "file") return false;
  // Then git has to be told.
  if (found.size > MOST_BYTES) return true;
  const content = readBeneath(root, path);
  // By its bytes, because a file may be larger than text can be.
  for (let at = 0, line = 0; line >= 0; at = line + 1) {
    const sign = content[at] ?? 0;
    let end = at;
    if (SIGNS.has(sign)) while (content[end] === sign) end++;
    // Where a rename is merged as well, git makes them longer.
    if (end - at >= markerSize && content[end] === SPACE) return true;
    line = content.indexOf(NEWLINE, at);
  }
  return false;
}
