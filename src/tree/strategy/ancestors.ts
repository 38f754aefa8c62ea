import { createHash } from "node:crypto";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { syncFolder } from "../../journal/durable-file.ts";
import {
  type RecordFormat,
  hasFields,
  readRecordSync,
  writeRecord,
} from "../../journal/record-file.ts";
import {
  type BytePath,
  type RelativePath,
  displayPath,
  nameOf,
  parentOf,
} from "../../model/byte-path.ts";
import { throwUnlessErrno } from "../../platform/native/index.ts";
import { statBeneath } from "../beneath.ts";
import { copyFileTo } from "../copy-entry.ts";
import { copyTree } from "../copy-tree.ts";
import { removeFolder } from "../remove-folders.ts";
import { withFolder, withRoot } from "../scan/open-directory.ts";
import type { SandboxPlace } from "../workspace.ts";

/*
 * What is known of the base's content, for three-way merges. Each reset of the sandbox begins a new epoch, because the
 * base is another one then; a checkpoint belongs to the epoch in which it was made. An ancestor of the wrong epoch
 * would let a merge drop somebody's edit, so one that is not certain counts as none.
 */

interface Epoch {
  readonly epoch: number;
}

const FORMAT: RecordFormat<Epoch> = {
  name: "epoch",
  version: 1,
  isData: (value): value is Epoch => hasFields(value, { epoch: "number" }),
};

const KEPT = /^(?:pre|base)-(\d+)$/;
const MARK = /^epoch-(\d+)-of-(.+)$/;
const SETTLED = "-settled";

const recordOf = (place: SandboxPlace): string => `${displayPath(place.directory)}/epoch.json`;

/** The epoch that the sandbox is in. */
export function currentEpoch(place: SandboxPlace): number {
  return readRecordSync(recordOf(place), FORMAT)?.epoch ?? 1;
}

/** An epoch that was never used. */
export function freeEpoch(place: SandboxPlace): number {
  const used = namesIn(place).map((name) => Number((KEPT.exec(name) ?? MARK.exec(name))?.[1] ?? 0));
  return Math.max(currentEpoch(place), ...used) + 1;
}

/** Where the whole base of an epoch is kept, when that was asked for. */
export function baseFolder(place: SandboxPlace, epoch: number): BytePath {
  return `${place.directory}/base-${epoch}` as BytePath;
}

/**
 * Keeps a copy of the base file before the sandbox's first own write to it. The caller has verified that the real file
 * still is the base.
 */
export async function keepPreImage(place: SandboxPlace, path: RelativePath): Promise<void> {
  const epoch = currentEpoch(place);
  const target = preImageOf(place, epoch, path);
  if (isThere(target) || isThere(settledMark(place, epoch, path))) return;
  const folder = preFolder(place, epoch);
  await mkdir(displayPath(folder), { recursive: true, mode: 0o700 });
  try {
    withRoot(place.root, (rootFd) =>
      withFolder(rootFd, parentOf(path), (sourceFd) =>
        withRoot(folder, (targetFd) =>
          copyFileTo(sourceFd, nameOf(path), targetFd, nameOf(target), { reflink: "auto" }),
        ),
      ),
    );
  } catch (error) {
    throwUnlessErrno(error, "EEXIST");
  }
}

/**
 * The proven ancestor of a path: our own pre-image, or what the tree with the whole base has there, which is a copy
 * unless the workspace keeps another; null when there is none.
 */
export function findAncestor(
  place: SandboxPlace,
  path: RelativePath,
  baseTree?: BytePath,
): BytePath | null {
  const epoch = currentEpoch(place);
  if (isThere(settledMark(place, epoch, path))) return null;
  const own = preImageOf(place, epoch, path);
  if (isThere(own)) return own;
  const base = baseTree ?? baseFolder(place, epoch);
  const isKept = isThere(base) && statBeneath(base, path)?.type === "file";
  return isKept ? (`${base}/${path}` as BytePath) : null;
}

/**
 * The base of these paths is another one from now on than the rest of the epoch has. Checkpoints of the epoch have the
 * old one still, so no ancestor of theirs is certain any more, and none is given. Durable when the promise settles, and
 * to be called before the base is another one: a merge with an ancestor that is older than the base drops edits.
 */
export async function forgetAncestors(
  place: SandboxPlace,
  paths: Iterable<RelativePath>,
): Promise<void> {
  const epoch = currentEpoch(place);
  await mkdir(displayPath(preFolder(place, epoch)), { recursive: true, mode: 0o700 });
  for (const path of paths)
    await writeFile(displayPath(settledMark(place, epoch, path)), "", { mode: 0o600 });
  for (const folder of [preFolder(place, epoch), place.directory])
    await syncFolder(displayPath(folder));
}

/** Remembers to which epoch a checkpoint belongs. One that is not remembered merely has no ancestors. */
export async function markCheckpoint(place: SandboxPlace, id: string): Promise<void> {
  const name = `epoch-${currentEpoch(place)}-of-${id}`;
  await writeFile(`${displayPath(place.directory)}/${name}`, "", { mode: 0o600 });
}

/** Forgets a checkpoint, and what only it needed. */
export function unmarkCheckpoint(place: SandboxPlace, id: string): void {
  for (const name of namesIn(place)) {
    if (MARK.exec(name)?.[2] === id) rmSync(`${displayPath(place.directory)}/${name}`);
  }
  dropUnused(place);
}

/** Goes back to the epoch of a checkpoint that has just been restored. */
export async function returnToCheckpoint(place: SandboxPlace, id: string): Promise<void> {
  await enterEpoch(place, epochOf(place, id) ?? freeEpoch(place));
}

function epochOf(place: SandboxPlace, id: string): number | null {
  const mark = namesIn(place)
    .map((name) => MARK.exec(name))
    .find((found) => found?.[2] === id);
  return mark?.[1] === undefined ? null : Number(mark[1]);
}

/**
 * Gives a fork the whole base that the state of its checkpoint started from, where one was kept. Single pre-images stay
 * with the sandbox that made them.
 */
export async function copyBase(
  from: SandboxPlace,
  checkpointId: string,
  place: SandboxPlace,
): Promise<void> {
  const epoch = epochOf(from, checkpointId);
  const source = baseFolder(from, epoch ?? 0);
  if (epoch === null || !isThere(source)) return;
  const target = baseFolder(place, currentEpoch(place));
  await mkdir(displayPath(target), { mode: 0o700 });
  await copyTree({ source, target, reflink: "auto" });
  await copySettled(preFolder(from, epoch), preFolder(place, currentEpoch(place)));
}

/** What was settled in the epoch has no ancestor in the fork either. */
async function copySettled(source: BytePath, target: BytePath): Promise<void> {
  if (!isThere(source)) return;
  await mkdir(displayPath(target), { recursive: true, mode: 0o700 });
  for (const name of readdirSync(displayPath(source))) {
    if (name.endsWith(SETTLED))
      await writeFile(`${displayPath(target)}/${name}`, "", { mode: 0o600 });
  }
}

/** Makes an epoch the current one, durably, and drops what nobody needs any more. */
export async function enterEpoch(place: SandboxPlace, epoch: number): Promise<void> {
  const isUsed = namesIn(place).some((name) => KEPT.test(name) || MARK.test(name));
  // As long as nothing was kept and nobody can come back, one epoch is as good as the next.
  if (!isUsed && readRecordSync(recordOf(place), FORMAT) === null) return;
  if (epoch !== currentEpoch(place)) await writeRecord(recordOf(place), FORMAT, { epoch });
  dropUnused(place);
}

function dropUnused(place: SandboxPlace): void {
  const names = namesIn(place);
  const needed = new Set(names.flatMap((name) => MARK.exec(name)?.[1] ?? []));
  needed.add(String(currentEpoch(place)));
  for (const name of names) {
    const epoch = KEPT.exec(name)?.[1];
    if (epoch !== undefined && !needed.has(epoch))
      removeFolder(`${place.directory}/${name}` as BytePath);
  }
}

function preFolder(place: SandboxPlace, epoch: number): BytePath {
  return `${place.directory}/pre-${epoch}` as BytePath;
}

function preImageOf(place: SandboxPlace, epoch: number, path: RelativePath): BytePath {
  const name = createHash("sha256").update(path, "latin1").digest("hex");
  return `${preFolder(place, epoch)}/${name}` as BytePath;
}

function settledMark(place: SandboxPlace, epoch: number, path: RelativePath): BytePath {
  return `${preImageOf(place, epoch, path)}${SETTLED}` as BytePath;
}

function namesIn(place: SandboxPlace): string[] {
  return readdirSync(displayPath(place.directory));
}

function isThere(file: BytePath): boolean {
  return existsSync(Buffer.from(file, "latin1"));
}
