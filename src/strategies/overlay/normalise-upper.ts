import { type RelativePath, ROOT, joinPath } from "../../model/byte-path.ts";
import {
  close,
  futimens,
  getXattrAt,
  readDirectory,
  removeXattr,
  statFd,
  unlinkAt,
} from "../../platform/native/index.ts";
import { encodeBaseMark, pathMark, readBaseMarkAt } from "./base-mark.ts";
import type { LayerStack } from "./layer-stack.ts";
import {
  FUSE_OPAQUE_ATTRIBUTE,
  FUSE_OPAQUE_NAME,
  FUSE_PREFIX,
  findStat,
  makeWhiteout,
  markName,
  markOpaque,
  readFolderMarks,
  removeMarkAt,
  setMarkAt,
  whileWritable,
} from "./marks.ts";
import { FUSE_ORIGIN, originPath } from "./relink-aliases.ts";

/**
 * Brings what fuse-overlayfs wrote into the upper layer into the kernel's language, so that every mount and reader
 * understands it. Idempotent: after a kill it is simply done again. Nothing changes in the view.
 */
export function normaliseUpper(stack: LayerStack): void {
  normaliseFolder(stack, ROOT);
}

function normaliseFolder(stack: LayerStack, path: RelativePath): void {
  const { upper } = stack;
  const folders: RelativePath[] = [];
  const fd = stack.openPart({ layer: upper, path });
  try {
    const { mtimeNs } = statFd(fd);
    // The attribute before the file that says the same: a kill in between must not lose it.
    if (readFolderMarks(fd, { ...upper, isFuse: true }).isOpaque && path !== ROOT) {
      markOpaque(fd, upper.dialect);
    }
    whileWritable(fd, () => {
      removeXattr(fd, FUSE_OPAQUE_ATTRIBUTE);
      let isChanged = false;
      for (const { name, type } of readDirectory(fd)) {
        if (name.startsWith(FUSE_PREFIX)) {
          normaliseName(fd, name);
          isChanged = true;
        } else if (type === "directory") folders.push(joinPath(path, name));
        else if (type === "file") normaliseFile(stack, fd, name);
      }
      if (isChanged) futimens(fd, null, mtimeNs);
    });
  } finally {
    close(fd);
  }
  for (const folder of folders) normaliseFolder(stack, folder);
}

/** A name of its own: either says that the folder is opaque, or that the name behind it is removed. */
function normaliseName(fd: number, name: string): void {
  const hidden = name.slice(FUSE_PREFIX.length);
  const isAboutFolder = name === FUSE_OPAQUE_NAME || hidden === "" || hidden === ".opq";
  if (!isAboutFolder && findStat(fd, hidden) === null) makeWhiteout(fd, hidden);
  unlinkAt(fd, name);
}

/**
 * It notes the path that a file was copied from. The note must go: a later mount of it takes the copy and every other
 * name of the same base file for one file, and shows the content of either.
 */
function normaliseFile(stack: LayerStack, fd: number, name: string): void {
  const origin = getXattrAt(fd, name, FUSE_ORIGIN);
  if (origin === undefined) return;
  const { dialect } = stack.upper;
  if (readBaseMarkAt(fd, name, dialect) === null) {
    const mark = encodeBaseMark(pathMark(originPath(origin)));
    setMarkAt(fd, name, markName(dialect, "cofferdam"), mark);
  }
  removeMarkAt(fd, name, FUSE_ORIGIN);
}

/** Whether a layer has names that fuse-overlayfs would take for its own notes. */
export function hasFuseNames(stack: LayerStack): boolean {
  return stack.layers.some((layer) => {
    const pending: RelativePath[] = [ROOT];
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      const fd = stack.openPart({ layer, path });
      try {
        for (const { name, type } of readDirectory(fd)) {
          if (name.startsWith(FUSE_PREFIX)) return true;
          if (type === "directory") pending.push(joinPath(path, name));
        }
      } finally {
        close(fd);
      }
    }
    return false;
  });
}
