import {
  type RelativePath,
  ROOT,
  ancestorsOf,
  joinPath,
  nameOf,
  parentOf,
} from "../../model/byte-path.ts";
import { close } from "../../platform/native/index.ts";
import { attributesOf } from "../../tree/entry-attributes.ts";
import { folderEntry } from "../../tree/folder-entry.ts";
import type { TreeEntry } from "../../tree/tree-entry.ts";
import { copyNode } from "./copy-node.ts";
import { LayerEditor } from "./layer-editor.ts";
import type { LayerStack, ViewNode } from "./layer-stack.ts";
import { findStat, replaceAttributes } from "./marks.ts";
import type { SpareFolder } from "./spare-folder.ts";
import { openUpperFolder } from "./upper-folder.ts";
import { findNode } from "./view-node.ts";

/** The layers of a sandbox that nobody has mounted. */
interface Layers {
  readonly stack: LayerStack;
  readonly spare: SpareFolder;
  readonly mayRedirect: boolean;
}

/**
 * Makes the view show at a path what the real tree has there. Where only the upper layer stands in the way, its part is
 * taken away and nothing is copied, however much lies below.
 */
export function takeBack(layers: Layers, path: RelativePath, real: TreeEntry | null): void {
  const { stack, spare, mayRedirect } = layers;
  const node = path === ROOT ? stack.rootNode : findNode(stack, path);
  if (real === null) {
    if (node !== null) new LayerEditor(stack, spare, mayRedirect).remove(path);
  } else if (real.type === "directory" && node?.kind === "folder")
    takeAttributes(layers, path, real);
  else show(layers, path, real);
}

function takeAttributes({ stack, spare }: Layers, path: RelativePath, real: TreeEntry): void {
  using folder = openUpperFolder(stack, spare, { path, asked: path, mayCreate: false });
  replaceAttributes(folder.upper, attributesOf(real));
}

function show(layers: Layers, path: RelativePath, real: TreeEntry): void {
  const { stack, spare } = layers;
  const missing = ancestorsOf(path).filter(
    (folder) => folder !== ROOT && findNode(stack, folder) === null,
  );
  const request = { path: parentOf(path), asked: path, mayCreate: true };
  using folder = openUpperFolder(stack, spare, request);
  const name = nameOf(path);
  if (isReal(folder.lookUpBelowUpper(name), path)) {
    if (findStat(folder.upper, name) !== null) spare.takeAway(folder.upper, name);
  } else {
    const source: ViewNode =
      real.type === "directory"
        ? { kind: "folder", parts: [], base: path }
        : { kind: "leaf", layer: null, path };
    const built = spare.newName();
    const { dialect } = stack.upper;
    const stands = (below: RelativePath): RelativePath =>
      below === ROOT ? path : joinPath(path, below);
    copyNode(stack, source, spare.fd, built as RelativePath, { dialect, stands, folders: true });
    spare.putInPlace(built, folder.upper, name);
  }
  for (const above of missing.toReversed()) dress(layers, above);
}

/** A folder that had to be made again looks as the real one does. */
function dress(layers: Layers, path: RelativePath): void {
  const fd = layers.stack.openBase(path);
  if (fd === null) return;
  try {
    takeAttributes(layers, path, folderEntry(fd));
  } finally {
    close(fd);
  }
}

/** Whether nothing but the real entry itself shows there. */
function isReal(node: ViewNode | null, path: RelativePath): boolean {
  if (node === null) return false;
  return node.kind === "leaf"
    ? node.layer === null && node.path === path
    : node.parts.length === 0 && node.base === path;
}
