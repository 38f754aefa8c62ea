import { type RelativePath, ROOT, joinPath } from "../../model/byte-path.ts";
import { type NativeStat, close, readDirectory, statFd } from "../../platform/native/index.ts";
import {
  describeBase,
  encodeBaseMark,
  pathKey,
  pathMark,
  readBaseMark,
  readBaseMarkAt,
  readOrigin,
  writeBaseMark,
} from "./base-mark.ts";
import type { LayerStack } from "./layer-stack.ts";
import { findStat, markName, readFolderMarks, setMarkAt } from "./marks.ts";
import { findNode } from "./view-node.ts";

/**
 * Notes on every folder and file of the upper layer which real entry it stands for, as long as change times still
 * prove it. The kernel without root and fuse-overlayfs leave no such notes; later only they tell a folder that somebody
 * put new names into from one that was swapped, and a file that somebody removed from one that never was.
 */
export function recordBases(stack: LayerStack, baseTimeNs: bigint): void {
  new BaseRecorder(stack, baseTimeNs).folder(ROOT, statFd(stack.rootFd));
}

/**
 * Notes on those folders of the upper layer that still have no note that they stand for a real one, though nobody
 * knows which. Only for a layer of fuse-overlayfs, which makes every new folder opaque.
 */
export function recordFolderPaths(stack: LayerStack): void {
  recordPath(stack, ROOT);
}

function recordPath(stack: LayerStack, path: RelativePath): void {
  const { upper } = stack;
  const fd = stack.openPart({ layer: upper, path });
  const folders: RelativePath[] = [];
  try {
    if (readFolderMarks(fd, upper).isOpaque) return;
    const isNoted = path === ROOT || readBaseMark(fd, upper.dialect) !== null;
    if (!isNoted && isOnlyUpper(stack, path)) {
      writeBaseMark(fd, upper.dialect, pathMark(path));
    }
    for (const { name, type } of readDirectory(fd)) {
      if (type === "directory") folders.push(joinPath(path, name));
    }
  } finally {
    close(fd);
  }
  for (const folder of folders) recordPath(stack, folder);
}

function isOnlyUpper(stack: LayerStack, path: RelativePath): boolean {
  const node = findNode(stack, path);
  return node?.kind === "folder" && node.parts.length === 1;
}

class BaseRecorder {
  readonly #stack: LayerStack;
  readonly #baseTimeNs: bigint;

  constructor(stack: LayerStack, baseTimeNs: bigint) {
    this.#stack = stack;
    this.#baseTimeNs = baseTimeNs;
  }

  /** `parent` is the real folder that holds the one at this path. */
  folder(path: RelativePath, parent: NativeStat): void {
    const realFd = this.#stack.openBase(path);
    if (realFd === null) return;
    const folders: RelativePath[] = [];
    const real = statFd(realFd);
    const fd = this.#stack.openPart({ layer: this.#stack.upper, path });
    try {
      const marks = readFolderMarks(fd, this.#stack.upper);
      if (marks.isOpaque || marks.redirect !== null) return;
      if (path !== ROOT) this.#noteFolder(fd, realFd, path, parent);
      for (const { name, type } of readDirectory(fd)) {
        if (type === "directory") folders.push(joinPath(path, name));
        else if (type === "file") this.#noteFile(fd, realFd, name, joinPath(path, name));
      }
    } finally {
      close(fd);
      close(realFd);
    }
    for (const child of folders) this.folder(child, real);
  }

  #noteFolder(fd: number, realFd: number, path: RelativePath, parent: NativeStat): void {
    const { dialect } = this.#stack.upper;
    const isProven = this.#isOld(statFd(realFd)) || this.#isOld(parent);
    if (!isProven || readBaseMark(fd, dialect) !== null || readOrigin(fd, dialect) !== null) return;
    writeBaseMark(fd, dialect, describeBase(realFd, path));
  }

  #noteFile(fd: number, realFd: number, name: string, path: RelativePath): void {
    const { dialect } = this.#stack.upper;
    const real = findStat(realFd, name);
    if (real?.type !== "file" || !this.#isOld(real)) return;
    if (readBaseMarkAt(fd, name, dialect) !== null) return;
    const mark = { specialBits: 0, ino: real.ino, handle: null, pathKey: pathKey(path) };
    setMarkAt(fd, name, markName(dialect, "cofferdam"), encodeBaseMark(mark));
  }

  #isOld(stat: NativeStat): boolean {
    return stat.ctimeNs <= this.#baseTimeNs;
  }
}
