import { readFile } from "node:fs/promises";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { syncFolder } from "../../journal/durable-file.ts";
import { CheckpointError } from "../../errors/index.ts";
import { type BytePath, type RelativePath, displayPath } from "../../model/byte-path.ts";
import { copyTree } from "../../tree/copy-tree.ts";
import { FIELD, FLAG, type Manifest } from "../../tree/scan/manifest.ts";
import { workspaceHome } from "../../tree/strategy/place.ts";
import { runTask } from "../../tree/work/pool.ts";
import type { OpenPlace } from "../../tree/workspace.ts";
import { type Generation, readManifest, switchGeneration, writeManifest } from "./generation.ts";
import { type CopyMode, buildGeneration } from "./make-copy.ts";
import { removeFolder } from "./remove-folders.ts";

const folderOf = (place: OpenPlace, id: string): BytePath =>
  `${workspaceHome(place)}/c-${id}` as BytePath;

/**
 * Keeps the present workspace under an id: a full copy (shared blocks where possible), the manifest, and the list of
 * paths that differ from the base. It appears whole or not at all.
 */
export async function makeCheckpoint(
  place: OpenPlace,
  current: Generation,
  id: string,
  mode: CopyMode,
): Promise<void> {
  const building = `${folderOf(place, id)}.new` as BytePath;
  removeFolder(building);
  const path = displayPath(building);
  await mkdir(`${path}/tree`, { recursive: true, mode: 0o700 });
  try {
    const manifest = await readFile(`${displayPath(current.folder)}/manifest`);
    const { changes } = await runTask("compareTree", {
      workspace: current.tree,
      root: place.root,
      manifest,
      only: place.only,
      exclude: place.exclude,
    });
    await copyTree({ source: current.tree, target: `${building}/tree` as BytePath, reflink: mode });
    await writeFile(`${path}/manifest`, manifest, { mode: 0o600 });
    await writeFile(`${path}/changed.json`, JSON.stringify(changes.map((change) => change.path)), {
      mode: 0o600,
    });
    await rename(path, displayPath(folderOf(place, id)));
    await syncFolder(displayPath(workspaceHome(place)));
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
  const folder = folderOf(place, id);
  let base: Manifest;
  let changed: ReadonlySet<string>;
  try {
    base = readManifest(folder);
    const text = await readFile(`${displayPath(folder)}/changed.json`, "utf8");
    changed = new Set(JSON.parse(text) as string[]);
  } catch (cause) {
    throw new CheckpointError(`The checkpoint ${id} is damaged`, {
      operation: "restoreCheckpoint",
      cause,
      data: { checkpointId: id, reason: "damaged" },
    });
  }
  const made = await buildGeneration(place, current.number + 1, `${folder}/tree` as BytePath, mode);
  adopt(base, made.manifest, changed);
  await writeManifest(made.generation.folder, base);
  await switchGeneration(place, made.generation);
  removeFolder(current.folder);
}

/** Drops a checkpoint; one that is not there is fine. */
export function removeCheckpoint(place: OpenPlace, id: string): void {
  removeFolder(folderOf(place, id));
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
    if (changed.has(path as RelativePath)) {
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
