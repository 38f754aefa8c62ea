import { RecordDamagedError } from "../../errors/index.ts";
import {
  type BytePath,
  type RelativePath,
  ROOT,
  displayPath,
  joinPath,
  nameOf,
  parentOf,
} from "../../model/byte-path.ts";
import {
  type NativeStat,
  OPEN,
  close,
  listXattrsAt,
  openBeneath,
} from "../../platform/native/index.ts";
import { isOverlayMark, readEntry } from "../../tree/read-entry.ts";
import type { TreeEntry } from "../../tree/tree-entry.ts";
import { readBaseMarkAt } from "./base-mark.ts";
import { FolderReader } from "./folder-reader.ts";
import type { FolderNode, Layer, LayerStack, ViewNode } from "./layer-stack.ts";
import { markName } from "./marks.ts";

const DIRECTORY = OPEN.readOnly | OPEN.directory | OPEN.noFollow;

/** The entry that the view has at a path; null when there is none. */
export function findNode(stack: LayerStack, path: RelativePath): ViewNode | null {
  let node: ViewNode = stack.rootNode;
  for (const name of path === ROOT ? [] : (path.split("/") as BytePath[])) {
    if (node.kind === "leaf") return null;
    const child = childOf(stack, node, name);
    if (child === null) return null;
    node = child;
  }
  return node;
}

/** The entry that a folder of the view has under a name; null when there is none. */
export function childOf(stack: LayerStack, folder: FolderNode, name: BytePath): ViewNode | null {
  using reader = new FolderReader(stack, folder);
  return reader.lookUp(name);
}

/** Runs with the open folder, in a layer or in the real tree, that holds the entry; `name` is the entry in it. */
export function withHolder<T>(
  stack: LayerStack,
  node: ViewNode,
  work: (dirFd: number, name: string, layer: Layer | null) => T,
): T {
  const [layer, path] = placeOf(node);
  const rootFd = layer === null ? stack.rootFd : stack.layerFd(layer);
  if (path === ROOT) return work(rootFd, ".", layer);
  const fd = openBeneath(rootFd, parentOf(path), DIRECTORY);
  try {
    return work(fd, nameOf(path), layer);
  } finally {
    close(fd);
  }
}

function placeOf(node: ViewNode): readonly [Layer | null, RelativePath] {
  if (node.kind === "leaf") return [node.layer, node.path];
  const [top] = node.parts;
  return top === undefined ? [null, node.base ?? ROOT] : [top.layer, top.path];
}

/** An entry of the view with the overlay marks that it carries where it lies. */
export interface ReadNode {
  readonly entry: TreeEntry;
  readonly marks: readonly string[];
}

/** Everything about an entry of the view; see `readMarkedNode`. */
export function readNode(stack: LayerStack, node: ViewNode): TreeEntry {
  return readMarkedNode(stack, node).entry;
}

/**
 * Everything about an entry of the view. Special bits that our own copy of a file was not given count as its own.
 * `folder` is a reader of the folder that holds it, where there is one.
 * @throws RecordDamagedError (`RECORD_DAMAGED`) for a file whose content lies in another layer; none of our mounts
 * makes such files.
 */
export function readMarkedNode(stack: LayerStack, node: ViewNode, folder?: FolderReader): ReadNode {
  const held = node.kind === "leaf" ? folder?.holderOf(node) : null;
  if (node.kind === "leaf" && held) {
    return readAt(held.fd, nameOf(node.path), node.layer, node, held.stat);
  }
  return withHolder(stack, node, (dirFd, name, layer) => readAt(dirFd, name, layer, node));
}

function readAt(
  dirFd: number,
  name: string,
  layer: Layer | null,
  node: ViewNode,
  stat?: NativeStat,
): ReadNode {
  const attributes = listXattrsAt(dirFd, name);
  const entry = readEntry(dirFd, name, stat, attributes);
  const marks = attributes.filter(isOverlayMark);
  if (layer === null || entry.type !== "file" || marks.length === 0) return { entry, marks };
  if (marks.includes(markName(layer.dialect, "metacopy"))) {
    const file = displayPath(joinPath(layer.path, node.kind === "leaf" ? node.path : ROOT));
    throw new RecordDamagedError(`${file} holds attributes without content`, {
      data: { file, reason: "malformed" },
    });
  }
  const isMarked = marks.includes(markName(layer.dialect, "cofferdam"));
  const bits = (isMarked && readBaseMarkAt(dirFd, name, layer.dialect)?.specialBits) || 0;
  return { entry: bits === 0 ? entry : { ...entry, mode: entry.mode | bits }, marks };
}
