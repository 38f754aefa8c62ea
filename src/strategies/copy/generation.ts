import { readFileSync, writeFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { syncFolder } from "../../journal/durable-file.ts";
import {
  type RecordFormat,
  encodeRecord,
  hasFields,
  readRecord,
  writeRecord,
} from "../../journal/record-file.ts";
import { type BytePath, displayPath } from "../../model/byte-path.ts";
import { Manifest } from "../../tree/scan/manifest.ts";
import { workspaceHome } from "../../tree/strategy/place.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";

/** Which of the numbered workspaces counts; all others are leftovers. */
interface Current {
  readonly generation: number;
}

const FORMAT: RecordFormat<Current> = {
  name: "copy-workspace",
  version: 1,
  isData: (value): value is Current => hasFields(value, { generation: "number" }),
};

/** One complete workspace: its tree and the manifest of what it was made from. */
export interface Generation {
  readonly number: number;
  readonly folder: BytePath;
  readonly tree: BytePath;
}

/** The folder of a numbered workspace. */
export function generationOf(place: SandboxPlace, number: number): Generation {
  const folder = `${workspaceHome(place)}/g${number}` as BytePath;
  return { number, folder, tree: `${folder}/tree` as BytePath };
}

const recordOf = (place: SandboxPlace): string => `${displayPath(place.directory)}/workspace.json`;

/** The workspace that counts; null before the first one is complete. */
export async function currentGeneration(place: SandboxPlace): Promise<Generation | null> {
  const current = await readRecord(recordOf(place), FORMAT);
  return current === null ? null : generationOf(place, current.generation);
}

/** Makes a complete workspace the one that counts: one durable step. */
export async function switchGeneration(place: SandboxPlace, generation: Generation): Promise<void> {
  await writeRecord(recordOf(place), FORMAT, { generation: generation.number });
}

/** The same for the first one; on disk only with whatever syncs the file system next. */
export function noteGeneration(place: SandboxPlace, generation: Generation): void {
  const text = encodeRecord(FORMAT, { generation: generation.number });
  writeFileSync(recordOf(place), text, { mode: 0o600 });
}

/** Reads the manifest of a workspace or checkpoint. */
export function readManifest(folder: BytePath): Manifest {
  const manifest = Manifest.fromBytes(readFileSync(Buffer.from(`${folder}/manifest`, "latin1")));
  if (manifest === null) throw new Error(`the manifest in ${displayPath(folder)} is damaged`);
  return manifest;
}

/** Writes a manifest whole: readers find the old one or the new. */
export async function writeManifest(folder: BytePath, manifest: Manifest): Promise<void> {
  const path = displayPath(folder);
  await using file = await open(`${path}/manifest.new`, "w", 0o600);
  await file.writeFile(manifest.toBytes());
  await file.sync();
  await rename(`${path}/manifest.new`, `${path}/manifest`);
  await syncFolder(path);
}
