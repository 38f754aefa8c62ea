import { type RelativePath, ROOT, joinPath, nameOf, parentOf } from "../../model/byte-path.ts";
import {
  close,
  futimens,
  getXattrAt,
  linkAt,
  readDirectory,
  statAt,
  statFd,
} from "../../platform/native/index.ts";
import type { LayerStack } from "./layer-stack.ts";
import type { SpareFolder } from "./spare-folder.ts";
import { openUpperFolder } from "./upper-folder.ts";
import { findNode } from "./view-node.ts";

/** Where fuse-overlayfs notes the path that it copied a file from. */
export const FUSE_ORIGIN = "user.fuseoverlayfs.origin";

/**
 * fuse-overlayfs takes all names of a hard-linked base file for one file, shows an edit under each, and notes it under
 * any one of them. Gives the copy all the names that it had in the mount. Walks the real tree, but only when a file
 * with several names was copied. Idempotent; before the notes are taken away.
 */
export function relinkAliases(stack: LayerStack, spare: SpareFolder): void {
  const copies = findCopies(stack);
  if (copies.size === 0) return;
  for (const [alias, copy] of findAliases(stack, copies)) {
    const node = findNode(stack, alias);
    // Removed or replaced in the sandbox since, it is no name of that file any more.
    if (node?.kind !== "leaf" || node.layer !== null || node.path !== alias) continue;
    addName(stack, spare, copy, alias);
  }
}

/** The path that a note speaks of. */
export function originPath(value: Buffer): RelativePath {
  const text = value.toString("latin1").replace(/\0.*$/s, "");
  return text.replace(/^(?:\.\/)+/, "") as RelativePath;
}

/** Copies of base files with several names: inode number of the base file to path in the upper layer. */
function findCopies(stack: LayerStack): Map<bigint, RelativePath> {
  const copies = new Map<bigint, RelativePath>();
  const pending = [ROOT];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const fd = stack.openPart({ layer: stack.upper, path: folder });
    try {
      for (const { name, type } of readDirectory(fd)) {
        const path = joinPath(folder, name);
        if (type === "directory") pending.push(path);
        const origin = type === "file" ? getXattrAt(fd, name, FUSE_ORIGIN) : undefined;
        const real = origin === undefined ? null : stack.statBase(originPath(origin));
        if (real?.type === "file" && real.nlink > 1) copies.set(real.ino, path);
      }
    } finally {
      close(fd);
    }
  }
  return copies;
}

/** Names in the real tree of the files that were copied, each with the path of the copy. */
function findAliases(
  stack: LayerStack,
  copies: ReadonlyMap<bigint, RelativePath>,
): (readonly [alias: RelativePath, copy: RelativePath])[] {
  const aliases: (readonly [RelativePath, RelativePath])[] = [];
  const pending = [ROOT];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const fd = stack.openBase(folder);
    if (fd === null) continue;
    try {
      for (const { name, type } of readDirectory(fd)) {
        const path = joinPath(folder, name);
        if (type === "directory") pending.push(path);
        const copy = type === "file" ? copies.get(statAt(fd, name).ino) : undefined;
        if (copy !== undefined && copy !== path) aliases.push([path, copy]);
      }
    } finally {
      close(fd);
    }
  }
  return aliases;
}

function addName(
  stack: LayerStack,
  spare: SpareFolder,
  copy: RelativePath,
  alias: RelativePath,
): void {
  const request = { path: parentOf(alias), asked: alias, mayCreate: false };
  using folder = openUpperFolder(stack, spare, request);
  const { mtimeNs } = statFd(folder.upper);
  const built = spare.newName();
  const fd = stack.openPart({ layer: stack.upper, path: parentOf(copy) });
  try {
    linkAt(fd, nameOf(copy), spare.fd, built);
  } finally {
    close(fd);
  }
  spare.putInPlace(built, folder.upper, nameOf(alias));
  futimens(folder.upper, null, mtimeNs);
}
