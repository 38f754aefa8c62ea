import { linkSync, readdirSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { syncFolder } from "../../journal/durable-file.ts";
import { CheckpointError } from "../../errors/index.ts";
import { type BytePath, type RelativePath, displayPath } from "../../model/byte-path.ts";
import { syncfs } from "../../platform/native/index.ts";
import { takeBaseTime } from "../../tree/base-time.ts";
import { checkSpace } from "../../tree/check-space.ts";
import { copyTree } from "../../tree/copy-tree.ts";
import { removeFolder } from "../../tree/remove-folders.ts";
import { FIELD, FLAG, type Manifest } from "../../tree/scan/manifest.ts";
import { withRoot } from "../../tree/scan/open-directory.ts";
import { workspaceHome } from "../../tree/strategy/place.ts";
import { runTask } from "../../tree/threads/pool.ts";
import type { OpenPlace, SandboxPlace } from "../../tree/workspace.ts";
import { type Generation, readManifest, switchGeneration, writeManifest } from "./generation.ts";
import { type CopyMode, buildGeneration } from "./make-copy.ts";
import { rebuild } from "./rebuild.ts";
import { type ListedFile, lastCheckpoint, noteCheckpoint } from "./since-checkpoint.ts";

const folderOf = (place: OpenPlace, id: string): BytePath =>
  `${workspaceHome(place)}/c-${id}` as BytePath;

const treeOf = (place: OpenPlace, id: string): BytePath =>
  `${folderOf(place, id)}/tree` as BytePath;

/**
 * Keeps the present workspace under an id: its files, the manifest, and the list of paths that differ from the base.
 * Files that are the same since the last checkpoint become further names of that one's private files; the others are
 * copied (shared blocks where possible). It appears whole or not at all, and is on disk then.
 */
export async function makeCheckpoint(
  place: OpenPlace,
  current: Generation,
  id: string,
  mode: CopyMode,
): Promise<void> {
  const building = `${workspaceHome(place)}/b-${id}` as BytePath;
  removeFolder(building);
  const path = displayPath(building);
  await mkdir(`${path}/tree`, { recursive: true, mode: 0o700 });
  try {
    // Whatever is edited while we look has a later change time and is not taken for what was copied.
    const baseTimeNs = takeBaseTime(building);
    const manifestFile = `${displayPath(current.folder)}/manifest`;
    const manifest = await readFile(manifestFile);
    const { changes } = await runTask("compareTree", {
      workspace: current.tree,
      root: place.root,
      manifest,
      only: place.only,
      exclude: place.exclude,
    });
    const last = lastCheckpoint(current, (checkpoint) => treeOf(place, checkpoint));
    await copyTree({
      source: current.tree,
      target: `${building}/tree` as BytePath,
      reflink: mode,
      earlier: last && { ...last, manifest },
      beforeCopy: (bytes, entries) => checkSpace(building, { bytes, entries, reflink: mode }),
    });
    // A manifest is only ever replaced whole, so both can have the same one.
    linkSync(manifestFile, `${path}/manifest`);
    const changed = changes.map((change) => change.path);
    await writeFile(`${path}/changed.json`, JSON.stringify(changed), { mode: 0o600 });
    withRoot(building, syncfs);
    await rename(path, displayPath(folderOf(place, id)));
    await syncFolder(displayPath(workspaceHome(place)));
    const listed = changes.map(({ path: changedPath, after }): ListedFile => {
      const isCertain = after?.type === "file" && after.ctimeNs <= baseTimeNs;
      return [changedPath, isCertain ? after : null];
    });
    await noteCheckpoint(current, id, listed);
  } catch (error) {
    removeFolder(building);
    throw error;
  }
}

/** Builds a fresh workspace from the checkpoint and switches to it; on failure the old one still counts. */
export async function restoreCheckpoint(
  place: OpenPlace,
  current: Generation,
  id: string,
  mode: CopyMode,
): Promise<void> {
  const { base, changed } = await readKept(place, id);
  await rebuild({
    place,
    old: current,
    source: treeOf(place, id),
    mode,
    checkpointId: id,
    manifestOf: async ({ generation, manifest }) => {
      adopt(base, manifest, new Set(changed));
      const listed = changed.map((path): ListedFile => [path, copiedFile(manifest, path)]);
      await noteCheckpoint(generation, id, listed);
      return base;
    },
  });
  removeFolder(current.folder);
}

/** Builds the first workspace of another sandbox from the checkpoint, compared with the base that this one has. */
export async function forkCheckpoint(
  from: OpenPlace,
  id: string,
  place: SandboxPlace,
  mode: CopyMode,
  signal?: AbortSignal,
): Promise<void> {
  const { base, changed } = await readKept(from, id);
  const { generation, manifest } = await buildGeneration(place, 1, treeOf(from, id), mode, signal);
  adopt(base, manifest, new Set(changed));
  await writeManifest(generation.folder, base);
  await switchGeneration(place, generation);
}

/** What a checkpoint is compared with, and the paths that differ. */
async function readKept(
  place: OpenPlace,
  id: string,
): Promise<{ readonly base: Manifest; readonly changed: readonly RelativePath[] }> {
  const folder = folderOf(place, id);
  try {
    const base = readManifest(folder);
    const text = await readFile(`${displayPath(folder)}/changed.json`, "utf8");
    return { base, changed: JSON.parse(text) as RelativePath[] };
  } catch (cause) {
    throw new CheckpointError(`The checkpoint ${id} is damaged`, {
      operation: "restoreCheckpoint",
      cause,
      data: { checkpointId: id, reason: "damaged" },
    });
  }
}

/** The folders of all checkpoints. */
export function checkpointFolders(place: OpenPlace): BytePath[] {
  return readdirSync(displayPath(workspaceHome(place)))
    .filter((name) => name.startsWith("c-"))
    .map((name) => `${workspaceHome(place)}/${name}` as BytePath);
}

/** Drops a checkpoint; one that is not there is fine. */
export function removeCheckpoint(place: OpenPlace, id: string): void {
  removeFolder(folderOf(place, id));
}

/** What a file is in the workspace that was just made. */
function copiedFile(copy: Manifest, path: RelativePath): ListedFile[1] {
  const record = copy.find(path);
  if (record < 0) return null;
  return {
    ...copy.baseIdentity(record),
    ino: BigInt(copy.wide(record, FIELD.ino)),
    mtimeNs: copy.timeNs(record, FIELD.mtime),
    ctimeNs: copy.timeNs(record, FIELD.ctime),
  };
}

/**
 * Writes into the base's manifest which copies are now in the workspace. What differed from the base when the
 * checkpoint was made keeps being looked at.
 */
function adopt(base: Manifest, copy: Manifest, changed: ReadonlySet<string>): void {
  for (const [record, path] of base.entries()) {
    const found = copy.find(path);
    if (base.has(record, FLAG.skipped)) continue;
    if (found < 0) {
      base.raise(record, FLAG.absent);
      continue;
    }
    base.set(record, FIELD.flags, base.get(record, FIELD.flags) & ~FLAG.absent);
    if (changed.has(path)) {
      base.raise(record, FLAG.dirty);
      continue;
    }
    for (const field of [FIELD.ino, FIELD.ino + 1, FIELD.copyMode, FIELD.copyUid, FIELD.copyGid]) {
      base.set(record, field, copy.get(found, field));
    }
    for (const field of [FIELD.mtime, FIELD.ctime]) {
      for (let word = 0; word < 3; word++)
        base.set(record, field + word, copy.get(found, field + word));
    }
  }
}
