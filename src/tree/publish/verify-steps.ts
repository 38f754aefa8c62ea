import { type RelativePath, nameOf, parentOf } from "../../model/byte-path.ts";
import { type StatBuffer, statFd, throwUnlessErrno } from "../../platform/native/index.ts";
import { readFolderAttributes } from "../folder-attributes.ts";
import { entryType } from "../read-entry.ts";
import { type EntryRecord, isSameEntry, lookAt } from "./entry-record.ts";
import { type PublishContext, openContext } from "./publish-context.ts";
import type { PublishPlace, RecordedEntry, Step, TouchedFolder } from "./step.ts";
import { isEqual } from "./touched-folders.ts";
import { walkBelow } from "./walk-below.ts";

/** A real path that is not what the steps were made for. */
export interface Mismatch {
  readonly path: RelativePath;
  readonly reason: "changed" | "missing" | "exists" | "ancestorReplaced";
}

/**
 * Compares every path that the steps will touch with what they expect there, everything inside a folder that will go
 * included. Changes nothing.
 * @throws RecordDamagedError when the steps cannot be trusted.
 */
export function verifySteps(place: PublishPlace): Mismatch[] {
  using context = openContext(place);
  const { list, root } = context;
  if (statFd(root.fd).ino !== list.root.ino) {
    return list.steps.map(({ path }) => ({ path, reason: "ancestorReplaced" }));
  }
  const found: Mismatch[] = [];
  const reachable = list.folders.map((_, position) => context.reachFolder(position) !== null);
  list.folders.forEach((folder, position) => {
    if (folder.after !== null || folder.drifted) {
      const reason =
        reachable[position] === true ? compareFolder(context, folder) : "ancestorReplaced";
      if (reason !== null) found.push({ path: folder.path, reason });
    }
  });
  for (const step of list.steps) {
    if (reachable[step.folder] === true) verifyStep(context, step, found);
    else found.push({ path: step.path, reason: "ancestorReplaced" });
  }
  return found;
}

function compareFolder(context: PublishContext, folder: TouchedFolder): Mismatch["reason"] | null {
  const now = readFolderAttributes(context.root.folders.open(folder.path));
  return folder.drifted || !isEqual(now, folder.before) ? "changed" : null;
}

function verifyStep(context: PublishContext, step: Step, found: Mismatch[]): void {
  const { path, old } = step;
  const { fd, name } = context.placeOf(step);
  const reason = compare(context.now, fd, name, old);
  if (reason !== null) found.push({ path, reason });
  else if (old?.type === "directory") compareBelow(fd, name, path, step.below, found);
  for (const { target, record } of step.links) {
    const changed = compareTarget(context, target, record);
    if (changed !== null) found.push({ path: target, reason: changed });
  }
}

function compare(
  stat: StatBuffer,
  fd: number,
  name: string,
  expected: EntryRecord | null,
): Mismatch["reason"] | null {
  if (!lookAt(stat, fd, name)) return expected === null ? null : "missing";
  if (expected === null) return "exists";
  return isSameEntry(stat, expected) ? null : "changed";
}

/**
 * Compares everything inside a directory with what was recorded. Special files that nobody recorded do not count: no
 * strategy sees them, and they go and come back with their folder.
 */
export function compareBelow(
  fd: number,
  name: string,
  path: RelativePath,
  recorded: readonly RecordedEntry[],
  found: Mismatch[],
): void {
  const expected = new Map(recorded);
  walkBelow(fd, name, path, (below, stat) => {
    const record = expected.get(below);
    expected.delete(below);
    if (record === undefined) {
      if (entryType(stat.type) !== "special") found.push({ path: below, reason: "exists" });
    } else if (!isSameEntry(stat, record)) found.push({ path: below, reason: "changed" });
  });
  for (const below of expected.keys()) found.push({ path: below, reason: "missing" });
}

function compareTarget(
  context: PublishContext,
  target: RelativePath,
  record: EntryRecord,
): Mismatch["reason"] | null {
  try {
    const fd = context.root.folders.open(parentOf(target));
    return compare(context.now, fd, nameOf(target), record);
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "EXDEV");
    return "ancestorReplaced";
  }
}
