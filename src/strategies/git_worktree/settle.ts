import { rm } from "node:fs/promises";
import type { Resolution } from "../../contract/strategy.ts";
import { type ConflictDetail, SandboxConflictError } from "../../errors/index.ts";
import {
  type BytePath,
  type RelativePath,
  ancestorsOf,
  displayPath,
  isWithin,
  parentOf,
  toBytePath,
} from "../../model/byte-path.ts";
import { listBeneath, pathError, removeBeneath, statBeneath } from "../../tree/beneath.ts";
import { selectChanges } from "../../tree/select-changes.ts";
import { readBase } from "./base-record.ts";
import { requireTip } from "./checks.ts";
import { describeMerge, fewOf } from "./failures.ts";
import type { OpenSite } from "./git-commit.ts";
import { type RawChange, joinZero } from "./git-output.ts";
import type { Git } from "./git.ts";
import { changedBetween, readResolutions, writeResolutions } from "./resolutions.ts";
import { inRepository } from "./repository.ts";
import { privately, worktreePath } from "./site.ts";
import type { FoundEdits } from "./view.ts";

type Edits = Pick<FoundEdits, "raw" | "base">;

/**
 * Takes the changes at these paths, and below them, back to the commit that they are edits of; what the branch has by
 * then comes with the merge. The worktree's own commits stay, their files do not.
 */
export async function dropPaths(
  git: Git,
  site: OpenSite,
  { raw, base }: Edits,
  paths: readonly RelativePath[],
): Promise<void> {
  const dropped = selectChanges(raw, paths);
  const root = worktreePath(site);
  for (const { path, before } of dropped) if (before === null) removeNew(root, path);
  const old = dropped.flatMap(({ path, before }) => (before === null ? [] : [path]));
  for (const path of old) refuseObstacle(root, path);
  if (old.length > 0) await checkOut(git, site, base, old);
  const settled = await readResolutions(site);
  const isLeft = ([path]: readonly [RelativePath, unknown]): boolean =>
    !paths.some((at) => isWithin(path, at));
  if (settled.size > 0) await writeResolutions(site, new Map([...settled].filter(isLeft)));
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

/** What the sandbox put in place of a folder is an edit of its own, which nobody asked to take back. */
function refuseObstacle(root: BytePath, path: RelativePath): void {
  for (const folder of ancestorsOf(path).slice(1)) {
    const found = statBeneath(root, folder);
    if (found === null) return;
    if (found.type !== "directory") throw pathError(folder, "notDirectory");
  }
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
 * Settles conflicts at these paths. git merges by itself whatever can be merged, so `merge` only tells what cannot.
 * Edits in the checkout that nobody has committed are never settled over, but can be yielded to.
 */
export async function resolvePaths(
  { git, found, findConflict }: SettleParts,
  site: OpenSite,
  paths: readonly RelativePath[],
  how: Resolution,
): Promise<void> {
  selectChanges(found.raw, paths);
  for (let round = 0; round < ROUNDS; round++) {
    const conflict = await findConflict();
    const wanted = conflict === null ? [] : conflictsAt(conflict, paths);
    if (conflict === null || wanted.length === 0) return;
    if (how === "merge") throw unmergeable(conflict, wanted);
    if (how === "mine") {
      if (conflict.data.reason !== "merge") throw conflict;
      await keepOwn(git, site, found.base, wanted);
      return;
    }
    await dropPaths(git, site, found, selectable(found.raw, wanted));
  }
}

function unmergeable(
  conflict: SandboxConflictError,
  paths: readonly RelativePath[],
): SandboxConflictError {
  if (conflict.data.reason !== "merge") return conflict;
  const conflicts = conflict.data.conflicts.filter((one) => paths.includes(pathOf(one)));
  const what = describeMerge(conflicts.map(({ reason }) => reason));
  return new SandboxConflictError(`${what}: ${fewOf(paths.map(displayPath))}`, {
    operation: "resolve",
    hint: "Bring both together in the sandbox and keep `mine`, or yield with `theirs`.",
    data: { ...conflict.data, conflicts, failedPath: conflicts[0]?.path ?? null },
  });
}

/** Remembers that the sandbox's version counts, whatever the branch has there now. */
async function keepOwn(
  git: Git,
  site: OpenSite,
  base: string,
  paths: readonly RelativePath[],
): Promise<void> {
  const tip = await requireTip(git, site, (await readBase(site)).ref);
  const theirs = await changedBetween(git, inRepository(site.repository), base, tip);
  const settled = await readResolutions(site);
  // What the branch has below a file of the sandbox is in its way as well.
  const below = [...theirs.keys()].filter((one) => paths.some((path) => isWithin(one, path)));
  for (const path of [...paths, ...below]) settled.set(path, theirs.get(path)?.after ?? null);
  await writeResolutions(site, settled);
}

function conflictsAt(
  { data }: SandboxConflictError,
  paths: readonly RelativePath[],
): RelativePath[] {
  return data.conflicts.map(pathOf).filter((path) => paths.some((at) => isWithin(path, at)));
}

function pathOf({ path, pathBytes }: ConflictDetail): RelativePath {
  return toBytePath(pathBytes === undefined ? path : Buffer.from(pathBytes, "hex")) as RelativePath;
}

/** A conflict may be told at a folder that stands in the way of a change below it, or the other way round. */
function selectable(raw: readonly RawChange[], paths: readonly RelativePath[]): RelativePath[] {
  return raw.flatMap(({ path }) =>
    paths.some((at) => isWithin(path, at) || isWithin(at, path)) ? path : [],
  );
}
