import { type RelativePath, joinPath } from "../../model/byte-path.ts";
import { OPEN, StatBuffer, close, openAt, readDirectory } from "../../platform/native/index.ts";
import { lookAt } from "./entry-record.ts";

const FOLDER = OPEN.readOnly | OPEN.directory | OPEN.noFollow;

/**
 * Visits everything below a directory, parents before their content, without following links. `visit` sees the path
 * with `prefix` in front and the entry, valid during the call; entries that vanish meanwhile are left out.
 */
export function walkBelow(
  folderFd: number,
  name: string,
  prefix: RelativePath,
  visit: (path: RelativePath, stat: StatBuffer) => void,
): void {
  walk(folderFd, name, prefix, visit, new StatBuffer());
}

function walk(
  folderFd: number,
  name: string,
  prefix: RelativePath,
  visit: (path: RelativePath, stat: StatBuffer) => void,
  stat: StatBuffer,
): void {
  const fd = openAt(folderFd, name, FOLDER);
  try {
    for (const entry of readDirectory(fd)) {
      if (!lookAt(stat, fd, entry.name)) continue;
      const path = joinPath(prefix, entry.name);
      const isFolder = stat.type === "directory";
      visit(path, stat);
      if (isFolder) walk(fd, entry.name, path, visit, stat);
    }
  } finally {
    close(fd);
  }
}
