import { type RelativePath, ancestorsOf } from "../../model/byte-path.ts";
import { close } from "../../platform/native/index.ts";
import { pathKey, readBaseMark, readOrigin } from "./base-mark.ts";
import type { FolderNode, Layer, LayerFolder, LayerStack } from "./layer-stack.ts";
import { readFolderMarks } from "./marks.ts";

/** Whether the view's folder was laid over the real one at this path, whether or not that is still there. */
export function isFolderCopy(stack: LayerStack, node: FolderNode, path: RelativePath): boolean {
  const key = pathKey(path);
  return node.parts.some((part, position) => {
    const fd = stack.openPart(part);
    try {
      const mark = readBaseMark(fd, part.layer.dialect);
      if (mark !== null) return mark.pathKey === key;
      // The kernel's note may speak of the next layer; in the lowest one it can only speak of the real tree.
      const isLowest = position === node.parts.length - 1;
      return isLowest && part.path === path && isKernelCopy(stack, part, fd);
    } finally {
      close(fd);
    }
  });
}

/** Whether the kernel copied this open folder of a layer from the one below it that has the same path. */
export function isKernelCopy(stack: LayerStack, { layer, path }: LayerFolder, fd: number): boolean {
  if (readOrigin(fd, layer.dialect) === null || isElsewhere(fd, layer)) return false;
  return ancestorsOf(path).every((folder) => {
    const ancestor = stack.openPart({ layer, path: folder });
    try {
      return !isElsewhere(ancestor, layer);
    } finally {
      close(ancestor);
    }
  });
}

/** Whether nothing below shows through an open folder of a layer, or another folder than the one of its path. */
function isElsewhere(fd: number, layer: Layer): boolean {
  const { isOpaque, redirect } = readFolderMarks(fd, layer);
  return isOpaque || redirect !== null;
}
