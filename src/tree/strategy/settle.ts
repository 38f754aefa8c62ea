import { readFile } from "node:fs/promises";
import type { StrategyHost } from "../../contract/host.ts";
import type { Resolution } from "../../contract/strategy.ts";
import { type RelativePath, ancestorsOf, isWithin } from "../../model/byte-path.ts";
import { type TreeConflict, checkConflicts, lookUpReal } from "../conflicts.ts";
import { selectChanges } from "../select-changes.ts";
import type { TreeChange } from "../tree-change.ts";
import { type TreeEntry, sameAttributes } from "../tree-entry.ts";
import type { OpenPlace, Workspace } from "../workspace.ts";
import { forgetAncestors } from "./ancestors.ts";
import { conflictError, describeConflict } from "./commit-errors.ts";
import { type MergeSources, dropMerged, mergeConflicts } from "./merge-changes.ts";

type Base = Map<RelativePath, TreeEntry | null>;

/**
 * Takes the changes at these paths, and below them, back to what the real tree has there now. A path after the other:
 * when one fails, those before it are taken back already, and a second call does the rest.
 */
export async function dropPaths(
  workspace: Workspace,
  place: OpenPlace,
  paths: readonly RelativePath[],
): Promise<void> {
  await workspace.quiesce(place, "checkpoint");
  const { changes } = await workspace.changes(place);
  await takeBack(workspace, place, changes, selectChanges(listed(changes), paths));
}

async function takeBack(
  workspace: Workspace,
  place: OpenPlace,
  changes: readonly TreeChange[],
  dropped: readonly TreeChange[],
): Promise<void> {
  const base: Base = new Map();
  const whole = new Set<RelativePath>();
  const gone = await goneFolders(workspace, place, changes, dropped);
  await forgetAncestors(place, [...gone, ...dropped.map(({ path }) => path)]);
  for (const path of gone) {
    await workspace.takeBack(place, path, null);
    base.set(path, null);
    whole.add(path);
  }
  for (const { path, after } of dropped) {
    const { real } = lookUpReal(place.root, path);
    base.set(path, real);
    if (ancestorsOf(path).some((folder) => whole.has(folder))) continue;
    await workspace.takeBack(place, path, real);
    if (real?.type !== "directory" || after?.type !== "directory") whole.add(path);
  }
  const folders = [...whole].filter((path) => base.get(path)?.type === "directory");
  await workspace.acceptBase(place, base, folders);
  await takeBackTimes(workspace, place, dropped);
}

/** Folders that others have removed and that the sandbox has for nothing but what is dropped. */
async function goneFolders(
  workspace: Workspace,
  place: OpenPlace,
  changes: readonly TreeChange[],
  dropped: readonly TreeChange[],
): Promise<RelativePath[]> {
  const { conflicts } = await checkConflicts(place, changes, await workspace.baseCheck(place));
  const lost = new Set(
    conflicts.flatMap(({ change, reason }) => (reason === "missing" ? change.path : [])),
  );
  const isDropped = new Set(dropped);
  const kept = changes.filter(
    (change) =>
      !isDropped.has(change) && !(change.after?.type === "directory" && lost.has(change.path)),
  );
  const folders = dropped.flatMap(({ path }) =>
    lost.has(path) ? (lookUpReal(place.root, path).missingParent ?? []) : [],
  );
  return [...new Set(folders)].filter((folder) => !kept.some(({ path }) => isWithin(path, folder)));
}

/** Folders whose names moved to and fro have nothing but a new time left: that is no edit of anybody. */
async function takeBackTimes(
  workspace: Workspace,
  place: OpenPlace,
  dropped: readonly TreeChange[],
): Promise<void> {
  const above = new Set(dropped.flatMap(({ path }) => ancestorsOf(path)));
  const { changes } = await workspace.changes(place);
  const base: Base = new Map();
  for (const { path, before, after, implied } of changes.toReversed()) {
    const isFolder = before?.type === "directory" && after?.type === "directory";
    if (implied === true || !isFolder || !above.has(path) || !sameAttributes(before, after))
      continue;
    const { real } = lookUpReal(place.root, path);
    await workspace.takeBack(place, path, real);
    base.set(path, real);
  }
  if (base.size > 0) await workspace.acceptBase(place, base, []);
}

/** What settling needs besides the sandbox. */
export interface SettleParts {
  readonly host: StrategyHost;
  readonly workspace: Workspace;
  /** The changes that a commit would publish. */
  readonly changes: readonly TreeChange[];
  readonly sources: MergeSources;
}

/** Settles the conflicts at these paths, and below them. */
export async function resolvePaths(
  parts: SettleParts,
  place: OpenPlace,
  paths: readonly RelativePath[],
  how: Resolution,
): Promise<void> {
  const { workspace, changes } = parts;
  const wanted = new Set(selectChanges(listed(changes), paths).map(({ path }) => path));
  const checked = await checkConflicts(place, changes, await workspace.baseCheck(place));
  const conflicts = checked.conflicts.filter(({ change }) => wanted.has(change.path));
  if (conflicts.length === 0) return;
  if (how === "theirs") {
    const dropped = conflicts.map(({ change }) => change);
    await takeBack(workspace, place, changes, dropped);
    return;
  }
  if (how === "merge") await writeMerged(parts, place, conflicts);
  const base: Base = new Map();
  const whole: RelativePath[] = [];
  for (const { change, real, reason } of conflicts) {
    base.set(change.path, real);
    if (real?.type === "directory" && change.after?.type !== "directory") whole.push(change.path);
    if (reason !== "ancestorReplaced" && reason !== "missing") continue;
    for (const folder of ancestorsOf(change.path).slice(1)) {
      if (!base.has(folder)) base.set(folder, lookUpReal(place.root, folder).real);
    }
  }
  await forgetAncestors(place, base.keys());
  await workspace.acceptBase(place, base, whole);
}

/** Gives the sandbox the merge of both sides; refuses, before anything is written, what cannot be merged. */
async function writeMerged(
  { host, workspace, sources }: SettleParts,
  place: OpenPlace,
  found: readonly TreeConflict[],
): Promise<void> {
  try {
    const { merged, conflicts } = await mergeConflicts(host, place, sources, found);
    const ours = new Map(found.map((conflict) => [conflict.change.path, conflict]));
    const left = [...conflicts];
    for (const { path, after } of merged) {
      const conflict = ours.get(path)!;
      // A write keeps the attributes that the sandbox has; theirs would be lost without a word.
      if (!sameAttributes(after!, conflict.change.after!))
        left.push({ ...conflict, reason: "overlap" });
    }
    if (left.length > 0) throw conflictError(left.map(describeConflict), "resolve");
    for (const { path, source } of merged) {
      await workspace.write(place, path, await readFile(Buffer.from(source!, "latin1")));
    }
  } finally {
    dropMerged(place);
  }
}

/** Changes that only follow from others are nobody's to choose. */
function listed(changes: readonly TreeChange[]): TreeChange[] {
  return changes.filter(({ implied }) => implied !== true);
}
