import { type BytePath, type RelativePath, ROOT } from "../../model/byte-path.ts";
import {
  OPEN,
  RENAME,
  close,
  fchmod,
  fchown,
  futimens,
  mkdirAt,
  openAt,
  renameAt,
  statFd,
} from "../../platform/native/index.ts";
import { pathError } from "../../tree/beneath.ts";
import { attributesOf, setAttributes } from "../../tree/entry-attributes.ts";
import { describeBase, writeBaseMark } from "./base-mark.ts";
import { FolderReader } from "./folder-reader.ts";
import type { FolderNode, LayerStack, ViewNode } from "./layer-stack.ts";
import { findStat, markOpaque } from "./marks.ts";
import type { SpareFolder } from "./spare-folder.ts";
import { readNode } from "./view-node.ts";

const DIRECTORY = OPEN.readOnly | OPEN.directory | OPEN.noFollow;
const SETGID = 0o2000;

/** A folder of the view that has a part in the upper layer. */
export class UpperFolder extends FolderReader {
  /** The open part in the upper layer; belongs to the reader. */
  get upper(): number {
    const fd = this.upperFd;
    if (fd === null) throw new Error("the folder has no part in the upper layer");
    return fd;
  }
}

/** What opening a folder needs. */
export interface UpperFolderRequest {
  readonly path: RelativePath;
  /** The path that the caller was asked for, for messages. */
  readonly asked: RelativePath;
  /** Whether folders that the view does not have are made. */
  readonly mayCreate: boolean;
}

/** Opens a folder of the view with its part in the upper layer, which is made where it is missing. */
export function openUpperFolder(
  stack: LayerStack,
  spare: SpareFolder,
  request: UpperFolderRequest,
): UpperFolder {
  const { path, asked, mayCreate } = request;
  let node = stack.rootNode;
  for (const name of path === ROOT ? [] : (path.split("/") as BytePath[])) {
    using parent = new UpperFolder(stack, node);
    const child = parent.lookUp(name);
    if (child === null && !mayCreate) throw pathError(asked, "missing");
    if (child?.kind === "leaf") throw notFolder(stack, asked, child);
    if (child === null) makeFolder(stack, spare, parent, name);
    else if (child.parts[0]?.layer.index !== 0) copyUpFolder(stack, spare, parent, child, name);
    const made = parent.lookUp(name);
    if (made?.kind !== "folder") throw pathError(asked, "notDirectory");
    node = made;
  }
  return new UpperFolder(stack, node);
}

function notFolder(stack: LayerStack, asked: RelativePath, node: ViewNode): Error {
  const { type } = readNode(stack, node);
  return pathError(asked, type === "symlink" ? "symlink" : "notDirectory");
}

function makeFolder(
  stack: LayerStack,
  spare: SpareFolder,
  parent: UpperFolder,
  name: BytePath,
): void {
  const { dialect } = stack.upper;
  if (findStat(parent.upper, name) === null) {
    // In place, so that it takes after its parent as any new folder does; nothing below can show through yet.
    mkdirAt(parent.upper, name, 0o777);
    withFolder(parent.upper, name, (fd) => markOpaque(fd, dialect));
    return;
  }
  const built = spare.newName();
  mkdirAt(spare.fd, built, 0o777);
  withFolder(spare.fd, built, (fd) => {
    markOpaque(fd, dialect);
    const { mode, gid } = statFd(parent.upper);
    if ((mode & SETGID) === 0) return;
    fchown(fd, statFd(fd).uid, gid);
    fchmod(fd, statFd(fd).mode | SETGID);
  });
  spare.putInPlace(built, parent.upper, name);
}

/** Gives a folder of the lower layers its part in the upper one; nothing changes in the view. */
function copyUpFolder(
  stack: LayerStack,
  spare: SpareFolder,
  parent: UpperFolder,
  node: FolderNode,
  name: BytePath,
): void {
  const { mtimeNs } = statFd(parent.upper);
  const built = spare.newName();
  mkdirAt(spare.fd, built, 0o700);
  withFolder(spare.fd, built, (fd) => {
    const attributes = attributesOf(readNode(stack, node));
    setAttributes(fd, attributes);
    recordBase(stack, fd, node);
  });
  renameAt(spare.fd, built, parent.upper, name, RENAME.noReplace);
  futimens(parent.upper, null, mtimeNs);
}

/** Remembers on an open folder of the upper layer which real folder shows through it. */
function recordBase(stack: LayerStack, fd: number, { base }: FolderNode): void {
  const baseFd = base === null ? null : stack.openBase(base);
  if (base === null || baseFd === null) return;
  try {
    writeBaseMark(fd, stack.upper.dialect, describeBase(baseFd, base));
  } finally {
    close(baseFd);
  }
}

function withFolder(dirFd: number, name: string, work: (fd: number) => void): void {
  const fd = openAt(dirFd, name, DIRECTORY);
  try {
    work(fd);
  } finally {
    close(fd);
  }
}
