import { rm } from "node:fs/promises";
import type { Resolution } from "../../contract/strategy.ts";
import { type ConflictDetail, SandboxConflictError } from "../../errors/index.ts";
import {
  type BytePath,
  type RelativePath,
  ancestorsOf,
  displayPath,
  isWithinAny,
  parentOf,
  toBytePath,
} from "../../model/byte-path.ts";
import { listBeneath, pathError, removeBeneath, statBeneath } from "../../tree/beneath.ts";
import { selectChanges } from "../../tree/select-changes.ts";
import { readBase } from "./base-record.ts";
import { requireTip } from "./checks.ts";
import { linkSharedIndex, ownIndex } from "./copy-index.ts";
import { emptySubmodules, isSubmoduleChange } from "./drop-submodules.ts";
import { MergeConflictError, describeMerge, fewOf } from "./failures.ts";
import type { OpenSite } from "./git-commit.ts";
import { type RawChange, SUBMODULE, joinZero } from "./git-output.ts";
import type { Git } from "./git.ts";
import { refuseLosses } from "./refuse-losses.ts";
import { type Rename, namesAmong } from "./renames.ts";
import { changedBetween, readResolutions, writeResolutions } from "./resolutions.ts";
import { inRepository } from "./repository.ts";
import { privately, worktreePath } from "./site.ts";
import type { FoundEdits } from "./view.ts";

type Edits = Pick<FoundEdits, "raw" | "base" | "hindrances" | "vanished">;

/**
 * Takes the changes at these paths, and below them, back to the commit that they are edits of; what the branch has by
 * then comes with the merge. The worktree's own commits stay, their files do not. Refuses before it changes anything.
 * @throws SandboxPathError (`SANDBOX_PATH`) for what stands in the way, or would be lost.
 */
export async function dropPaths(
  git: Git,
  site: OpenSite,
  { raw, base, vanished, hindrances }: Edits,
  paths: readonly RelativePath[],
): Promise<void> {
  const selected = selectChanges(raw, paths);
  const dropped = selected.filter(({ path }) => !vanished.has(path));
  const root = worktreePath(site);
  const old = dropped.filter(({ before }) => before !== null);
  const added = dropped.flatMap(({ path, before }) => (before === null ? [path] : []));
  for (const { path } of old) refuseObstacle(root, path, new Set(added));
  await refuseLosses(git, site, dropped, hindrances);
  // What lies at the path of a conflict that only the index tells, such as a folder, is not of that conflict.
  await returnEntries(
    git,
    site,
    selected.map((change) => (vanished.has(change.path) ? { ...change, before: null } : change)),
  );
  for (const path of added) removeNew(root, path);
  emptySubmodules(site, dropped.filter(isSubmoduleChange));
  const files = old.flatMap(({ path, before }) => (before?.mode === SUBMODULE ? [] : [path]));
  if (files.length > 0) await checkOut(git, site, base, files);
  await unsettle(site, new Set(paths));
}

/** What was settled at paths that are dropped counts no more, with all that was settled together with it. */
async function unsettle(site: OpenSite, paths: ReadonlySet<RelativePath>): Promise<void> {
  const settled = await readResolutions(site);
  if (settled.size === 0) return;
  const over = new Set(
    [...settled].flatMap(([path, { conflict }]) => (isWithinAny(path, paths) ? conflict : [])),
  );
  const left = [...settled].filter(([, { conflict }]) => !over.has(conflict));
  await writeResolutions(site, new Map(left));
}

/** Removes an added file, and the folders above it that nothing else is in; git has no empty ones. */
function removeNew(root: BytePath, path: RelativePath): void {
  if (statBeneath(root, path) !== null) removeBeneath(root, path);
  for (let folder = parentOf(path); folder !== ""; folder = parentOf(folder)) {
    if (statBeneath(root, folder)?.type !== "directory") continue;
    if (listBeneath(root, folder).length > 0) return;
    removeBeneath(root, folder);
  }
}

/**
 * What the sandbox put in place of a folder is an edit of its own: unless that goes as well, nobody asked to take it
 * back.
 */
function refuseObstacle(
  root: BytePath,
  path: RelativePath,
  added: ReadonlySet<RelativePath>,
): void {
  for (const folder of ancestorsOf(path).slice(1)) {
    const found = statBeneath(root, folder);
    if (found === null || added.has(folder)) return;
    if (found.type !== "directory") throw pathError(folder, "notDirectory");
  }
}

/**
 * Gives the index of the worktree the earlier entries. A file that git does not look at, such as one that is ignored or
 * marked as unchanged, is an edit by its entry alone.
 */
async function returnEntries(
  git: Git,
  site: OpenSite,
  changes: readonly RawChange[],
): Promise<void> {
  const zero = "0".repeat(site.repository.objectFormat === "sha256" ? 64 : 40);
  const lines = changes.map(({ path, before }) =>
    before === null ? `0 ${zero}\t${path}` : `${before.mode} ${before.oid}\t${path}`,
  );
  linkSharedIndex(site, site.admin);
  await git.run(["update-index", "-z", "--add", "--replace", "--index-info"], {
    ...privately(site, { index: ownIndex(site) }),
    input: joinZero(lines),
  });
}

async function checkOut(
  git: Git,
  site: OpenSite,
  base: string,
  paths: readonly RelativePath[],
): Promise<void> {
  const index = `${site.folder}/drop.index`;
  const call = privately(site, { index });
  try {
    await git.run(["read-tree", base], call);
    await git.run(["checkout-index", "-z", "-q", "-f", "--stdin"], {
      ...call,
      input: joinZero(paths),
    });
  } finally {
    await rm(index, { force: true });
  }
}

/** What settling needs besides the sandbox. */
export interface SettleParts {
  readonly git: Git;
  readonly found: Edits;
  /** What a commit would be refused for; null when it would not be. */
  readonly findConflict: () => Promise<SandboxConflictError | null>;
}

/** Conflicts with the branch are found first, those with edits in the checkout only without them. */
const ROUNDS = 3;

/**
 * Settles conflicts at these paths, which may be any name that the sandbox or the branch has for a file. git merges by
 * itself whatever can be merged, so `merge` only tells what cannot. Edits in the checkout that nobody has committed are
 * never settled over, but can be yielded to.
 */
export async function resolvePaths(
  { git, found, findConflict }: SettleParts,
  site: OpenSite,
  paths: readonly RelativePath[],
  how: Resolution,
): Promise<void> {
  for (let round = 0; ; round++) {
    const conflict = await findConflict();
    // One between other sides than the sandbox and its branch.
    if (conflict?.data.reason === "unresolved") throw conflict;
    const wanted = conflict === null ? [] : conflictsAt(conflict, paths);
    if (round === 0) requireKnown(found.raw, wanted, paths);
    if (conflict === null || wanted.length === 0) return;
    if (how === "merge") throw unmergeable(conflict, new Set(wanted.map(({ path }) => path)));
    const isMerge = conflict.data.reason === "merge";
    if (how === "mine" && !isMerge && round > 0) return;
    if (round === ROUNDS || (how === "mine" && !isMerge)) throw conflict;
    if (how === "mine") await keepOwn(git, site, found, wanted);
    else await dropPaths(git, site, found, selectable(found.raw, wanted));
  }
}

/** A conflict, and every name that either side has for the file that it is about. */
interface NamedConflict {
  readonly path: RelativePath;
  readonly names: readonly RelativePath[];
  /** Where git has it, which may be the name of another file for the branch. */
  readonly places: readonly RelativePath[];
}

/** @throws SandboxPathError (`unchanged`) for a path where the sandbox changed nothing and nothing is in conflict. */
function requireKnown(
  raw: readonly RawChange[],
  wanted: readonly NamedConflict[],
  paths: readonly RelativePath[],
): void {
  const known = new Set(
    wanted
      .flatMap(({ names, places }) => [...names, ...places])
      .flatMap((name) => [name, ...ancestorsOf(name)]),
  );
  selectChanges(
    raw,
    paths.filter((path) => !known.has(path)),
  );
}

function unmergeable(
  conflict: SandboxConflictError,
  paths: ReadonlySet<RelativePath>,
): SandboxConflictError {
  if (conflict.data.reason !== "merge") return conflict;
  const conflicts = conflict.data.conflicts.filter((one) => paths.has(pathOf(one)));
  const told = conflicts.map((one) => ({ path: pathOf(one), reason: one.reason }));
  const what = describeMerge(told, renamesOf(conflict));
  return new SandboxConflictError(`${what}: ${fewOf([...paths].map(displayPath))}`, {
    operation: "resolve",
    hint: "Bring both together in the sandbox and keep `mine`, or yield with `theirs`.",
    data: { ...conflict.data, conflicts, failedPath: conflicts[0]?.path ?? null },
  });
}

/** Remembers that the sandbox's version counts, whatever the branch has there now. */
async function keepOwn(
  git: Git,
  site: OpenSite,
  { base, raw }: Edits,
  wanted: readonly NamedConflict[],
): Promise<void> {
  const tip = await requireTip(git, site, (await readBase(site)).ref);
  const theirs = await changedBetween(git, inRepository(site.repository), base, tip);
  const before = new Map(raw.map((change) => [change.path, change.before]));
  const settled = await readResolutions(site);
  const settle = (path: RelativePath, conflict: RelativePath): void => {
    const present = theirs.has(path) ? theirs.get(path)?.after : before.get(path);
    settled.set(path, { theirs: present ?? null, conflict });
  };
  const conflictOf = new Map(wanted.flatMap(({ path, names }) => names.map((at) => [at, path])));
  for (const [path, conflict] of conflictOf) settle(path, conflict);
  // What the branch has below a file of the sandbox is in its way as well.
  for (const path of theirs.keys()) {
    const above = ancestorsOf(path).find((folder) => conflictOf.has(folder));
    if (above !== undefined && !conflictOf.has(path)) settle(path, conflictOf.get(above)!);
  }
  await writeResolutions(site, settled);
}

function conflictsAt(
  conflict: SandboxConflictError,
  paths: readonly RelativePath[],
): NamedConflict[] {
  const namesOf = namesAmong(renamesOf(conflict));
  const given = new Set(paths);
  const all = conflict instanceof MergeConflictError ? conflict.places : null;
  return conflict.data.conflicts
    .map(pathOf)
    .map((path) => ({ path, names: namesOf(path), places: all?.get(path) ?? [] }))
    .filter(({ names, places }) => [...names, ...places].some((name) => isWithinAny(name, given)));
}

function renamesOf(conflict: SandboxConflictError): readonly Rename[] {
  return conflict instanceof MergeConflictError ? conflict.renames : [];
}

function pathOf({ path, pathBytes }: ConflictDetail): RelativePath {
  return toBytePath(pathBytes === undefined ? path : Buffer.from(pathBytes, "hex")) as RelativePath;
}

/** A conflict may be told at a folder that stands in the way of a change below it, or the other way round. */
function selectable(
  raw: readonly RawChange[],
  wanted: readonly NamedConflict[],
): readonly RelativePath[] {
  const names = new Set(wanted.flatMap((one) => one.names));
  const above = new Set([...names].flatMap(ancestorsOf));
  return raw.flatMap(({ path }) => (above.has(path) || isWithinAny(path, names) ? path : []));
}
