import { type BytePath, type RelativePath, ROOT, joinPath } from "../../model/byte-path.ts";
import { close } from "../../platform/native/index.ts";
import { pathError } from "../../tree/beneath.ts";
import type { LayerStack } from "./layer-stack.ts";
import { findStat, readFolderMarks } from "./marks.ts";

/**
 * The path under which the layers below the upper one hold a folder of the view: its own path, unless it or a folder
 * above it was renamed.
 */
export function lowerPathOf(stack: LayerStack, path: RelativePath): RelativePath {
  let lower: RelativePath | null = ROOT;
  let folder = ROOT;
  for (const name of path === ROOT ? [] : (path.split("/") as BytePath[])) {
    const marks = upperMarks(stack, folder, name);
    folder = joinPath(folder, name);
    if (marks?.redirect?.startsWith("/") === true) lower = marks.redirect.slice(1) as RelativePath;
    else if (lower === null || marks?.isOpaque === true) lower = null;
    else lower = joinPath(lower, marks?.redirect ?? name);
  }
  if (lower === null) throw pathError(path, "missing");
  return lower;
}

function upperMarks(
  stack: LayerStack,
  folder: RelativePath,
  name: BytePath,
): ReturnType<typeof readFolderMarks> | null {
  const { upper } = stack;
  const path = joinPath(folder, name);
  const parts = path.split("/");
  let at = ROOT;
  for (const part of parts) {
    const fd = stack.openPart({ layer: upper, path: at });
    try {
      if (findStat(fd, part)?.type !== "directory") return null;
    } finally {
      close(fd);
    }
    at = joinPath(at, part);
  }
  const fd = stack.openPart({ layer: upper, path });
  try {
    return readFolderMarks(fd, upper);
  } finally {
    close(fd);
  }
}
