import { type BytePath, ROOT, joinPath } from "../../model/byte-path.ts";
import { OPEN, close, linkAt, mkdirAt, openAt } from "../../platform/native/index.ts";
import { attributesOf } from "../../tree/entry-attributes.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";
import { pathKey, readBaseMark, readOrigin, writeBaseMark } from "./base-mark.ts";
import { makeLayer } from "./create.ts";
import { isKernelCopy } from "./folder-copy.ts";
import { FolderReader } from "./folder-reader.ts";
import type { FolderNode, LayerStack, ViewNode } from "./layer-stack.ts";
import { makeWhiteout, markOpaque, markRedirect, replaceAttributes } from "./marks.ts";
import { layerPath, openLayers, withFolder } from "./sandbox-files.ts";
import { type OverlayState, saveState } from "./state.ts";
import { readNode, withHolder } from "./view-node.ts";

const DIRECTORY = OPEN.readOnly | OPEN.directory | OPEN.noFollow;
/** The kernel takes 500 layers; every one of them costs a look at every folder. */
const MOST_LAYERS = 64;

/**
 * Puts one layer in the place of all frozen ones when there are too many of them; the view stays exactly the same.
 * Files are linked, not copied: frozen layers never change. Checkpoints keep the layers that they were made of.
 */
export async function limitLayers(place: SandboxPlace, state: OverlayState): Promise<OverlayState> {
  const top = state.layers.at(-1);
  if (state.layers.length <= MOST_LAYERS || top === undefined) return state;
  const name = String(state.nextLayer);
  await withFolder(layerPath(place.directory, top), (fd) => makeLayer(place, name, fd));
  await withFolder(layerPath(place.directory, name), (targetFd) => {
    using stack = openLayers(place, { ...state, upper: top, layers: state.layers.slice(0, -1) });
    squashFolder(stack, stack.rootNode, targetFd);
  });
  return saveState(place.directory, {
    ...state,
    layers: [name],
    nextLayer: state.nextLayer + 1,
  });
}

function squashFolder(stack: LayerStack, node: FolderNode, targetFd: number): void {
  using reader = new FolderReader(stack, node);
  for (const name of reader.ownNames()) {
    const child = reader.lookUp(name);
    if (child !== null) squashEntry(stack, node, child, targetFd, name);
    else if (node.base !== null) makeWhiteout(targetFd, name);
  }
  replaceAttributes(targetFd, attributesOf(readNode(stack, node)));
}

function squashEntry(
  stack: LayerStack,
  parent: FolderNode,
  node: ViewNode,
  targetFd: number,
  name: BytePath,
): void {
  if (node.kind === "leaf") {
    withHolder(stack, node, (fd, source, layer) => {
      if (layer !== null) linkAt(fd, source, targetFd, name);
    });
    return;
  }
  if (node.parts.length === 0) return;
  mkdirAt(targetFd, name, 0o700);
  const fd = openAt(targetFd, name, DIRECTORY);
  try {
    markSquashed(stack, parent, node, fd, name);
    squashFolder(stack, node, fd);
  } finally {
    close(fd);
  }
}

/** The new folder says what the old ones said together: where the real tree shows through, and which folder it was. */
function markSquashed(
  stack: LayerStack,
  parent: FolderNode,
  node: FolderNode,
  fd: number,
  name: BytePath,
): void {
  const { dialect } = stack.upper;
  const isInPlace = parent.base !== null && node.base === joinPath(parent.base, name);
  if (node.base === null) markOpaque(fd, dialect);
  else if (!isInPlace) markRedirect(fd, node.base);
  // The lowest part was copied from the real tree itself, those above it perhaps from another layer.
  for (const part of node.parts.toReversed()) {
    const partFd = stack.openPart(part);
    try {
      const mark = readBaseMark(partFd, dialect);
      const handle = mark === null ? readOrigin(partFd, dialect) : null;
      if (mark !== null) writeBaseMark(fd, dialect, mark);
      else if (handle !== null) {
        const copied = isKernelCopy(stack, part, partFd) ? part.path : (node.base ?? ROOT);
        writeBaseMark(fd, dialect, { specialBits: 0, ino: 0n, handle, pathKey: pathKey(copied) });
      } else continue;
      return;
    } finally {
      close(partFd);
    }
  }
}
