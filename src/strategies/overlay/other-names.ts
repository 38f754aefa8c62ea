import { type RelativePath, ROOT, joinPath } from "../../model/byte-path.ts";
import { DirectoryScanner, StatBuffer, close } from "../../platform/native/index.ts";
import type { LayerStack } from "./layer-stack.ts";

/**
 * Where in the real tree these files (`device:inode`) have a name that may count, one for each that has any. Walks the
 * real tree until all are found, so this is only for the files of renamed folders that have names elsewhere.
 */
export function findOtherNames(
  stack: LayerStack,
  files: Iterable<string>,
  mayCount: (path: RelativePath) => boolean,
): Map<string, RelativePath> {
  const found = new Map<string, RelativePath>();
  const wanted = new Set(files);
  const scanner = new DirectoryScanner();
  const stat = new StatBuffer();
  const folders = [ROOT];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (wanted.size === 0) break;
    const fd = stack.openBase(folder);
    if (fd === null) continue;
    try {
      scanner.open(fd);
      while (scanner.next()) {
        if (!scanner.stat(stat)) continue;
        const path = joinPath(folder, scanner.name);
        if (stat.type === "directory") folders.push(path);
        if (stat.type !== "file" || stat.nlink < 2) continue;
        const key = `${stat.dev}:${stat.ino}`;
        if (!wanted.has(key) || stack.isHidden(path) || !mayCount(path)) continue;
        found.set(key, path);
        wanted.delete(key);
      }
    } finally {
      close(fd);
    }
  }
  return found;
}
