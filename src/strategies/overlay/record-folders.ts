import { type RelativePath, ROOT, joinPath } from "../../model/byte-path.ts";
import { type NativeStat, close, readDirectory, statFd } from "../../platform/native/index.ts";
import { describeBase, readBaseMark, readOrigin, writeBaseMark } from "./base-mark.ts";
import type { LayerStack } from "./layer-stack.ts";
import { readFolderMarks } from "./marks.ts";

/**
 * Remembers on every folder of the upper layer which real folder it was copied from, as long as change times still
 * prove it. The kernel without root and fuse-overlayfs leave no such note; later only the note tells a folder that
 * somebody put new names into from one that was swapped for another.
 */
export function recordFolders(stack: LayerStack, baseTimeNs: bigint): void {
  const rootStat = statFd(stack.rootFd);
  visit(stack, ROOT, rootStat, baseTimeNs);
}

function visit(stack: LayerStack, path: RelativePath, real: NativeStat, baseTimeNs: bigint): void {
  const names: string[] = [];
  const fd = stack.openPart({ layer: stack.upper, path });
  try {
    if (readFolderMarks(fd, stack.upper).isOpaque) return;
    for (const { name, type } of readDirectory(fd)) if (type === "directory") names.push(name);
  } finally {
    close(fd);
  }
  for (const name of names) {
    const child = joinPath(path, name);
    const stat = recordFolder(stack, child, real, baseTimeNs);
    if (stat !== null) visit(stack, child, stat, baseTimeNs);
  }
}

/** Gives what the real folder is; null when there is none to go on with. */
function recordFolder(
  stack: LayerStack,
  path: RelativePath,
  parent: NativeStat,
  baseTimeNs: bigint,
): NativeStat | null {
  const baseFd = stack.openBase(path);
  if (baseFd === null) return null;
  const fd = stack.openPart({ layer: stack.upper, path });
  try {
    const { dialect } = stack.upper;
    const marks = readFolderMarks(fd, stack.upper);
    if (marks.isOpaque || marks.redirect !== null) return null;
    const stat = statFd(baseFd);
    const isProven = stat.ctimeNs <= baseTimeNs || parent.ctimeNs <= baseTimeNs;
    const isKnown = readBaseMark(fd, dialect) !== null || readOrigin(fd, dialect) !== null;
    if (isProven && !isKnown) writeBaseMark(fd, dialect, describeBase(baseFd, path));
    return stat;
  } finally {
    close(fd);
    close(baseFd);
  }
}
