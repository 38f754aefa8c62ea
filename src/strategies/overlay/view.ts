import { readFileSync } from "node:fs";
import type { ListedEntry } from "../../contract/strategy.ts";
import { type BytePath, type RelativePath, ROOT } from "../../model/byte-path.ts";
import { NativeError, OPEN, close, openAt, statFd } from "../../platform/native/index.ts";
import { listed, pathError } from "../../tree/beneath.ts";
import { entryType } from "../../tree/read-entry.ts";
import type { TreeEntry } from "../../tree/tree-entry.ts";
import { FolderReader } from "./folder-reader.ts";
import type { LayerStack, ViewNode } from "./layer-stack.ts";
import { childOf, readNode, withHolder } from "./view-node.ts";

const ENOENT = 2;
const ENOTDIR = 20;
const ELOOP = 40;

/** Content of a regular file of the view. */
export function readFromView(stack: LayerStack, path: RelativePath): Buffer {
  const node = resolve(stack, path);
  if (node.kind === "folder") throw pathError(path, "directory");
  const { type } = readNode(stack, node);
  if (type === "special") throw pathError(path, "special");
  return withHolder(stack, node, (dirFd, name) => {
    // Non-blocking: a FIFO must not hold the call up before its type is known.
    const fd = openAt(dirFd, name, OPEN.readOnly | OPEN.noFollow | OPEN.nonBlocking);
    try {
      if (entryType(statFd(fd).type) !== "file") throw pathError(path, "special");
      return readFileSync(fd);
    } finally {
      close(fd);
    }
  });
}

/** An entry of the view; null when there is none. */
export function statInView(stack: LayerStack, path: RelativePath): TreeEntry | null {
  const node = search(stack, path);
  return node === "missing" || node === "notFolder" ? null : readNode(stack, node);
}

/** Entries of a directory of the view, sorted by name bytes. */
export function listView(stack: LayerStack, path: RelativePath): ListedEntry[] {
  const node = resolve(stack, path);
  if (node.kind === "leaf") throw pathError(path, "notDirectory");
  using reader = new FolderReader(stack, node);
  return reader
    .entries()
    .map(([name, child]) =>
      listed(name, child.kind === "folder" ? "directory" : readNode(stack, child).type),
    );
}

function resolve(stack: LayerStack, path: RelativePath): ViewNode {
  const node = search(stack, path);
  if (node === "missing") throw new NativeError(ENOENT, "openat2", path);
  if (node === "notFolder") throw new NativeError(ENOTDIR, "openat2", path);
  return node;
}

/** @throws NativeError ELOOP for a link on the way, as the kernel answers a look-up that may follow none. */
function search(stack: LayerStack, path: RelativePath): ViewNode | "missing" | "notFolder" {
  let node: ViewNode = stack.rootNode;
  for (const name of path === ROOT ? [] : (path.split("/") as BytePath[])) {
    if (node.kind === "leaf") {
      if (readNode(stack, node).type === "symlink") throw new NativeError(ELOOP, "openat2", path);
      return "notFolder";
    }
    const child = childOf(stack, node, name);
    if (child === null) return "missing";
    node = child;
  }
  return node;
}
