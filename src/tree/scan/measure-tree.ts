import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import { joinPath } from "../../model/byte-path.ts";
import {
  DirectoryScanner,
  MODE,
  StatBuffer,
  throwUnlessErrno,
} from "../../platform/native/index.ts";
import { withFolder, withRoot } from "./open-directory.ts";

/** A tree whose size is asked for. */
export interface MeasureRequest {
  readonly root: BytePath;
  readonly only: BytePath | null;
  readonly exclude: readonly RelativePath[];
}

/** Bytes of all regular files, holes left out and further names of a file counted once. Opens no file. */
export function measureTree({ root, only, exclude }: MeasureRequest): number {
  const stat = new StatBuffer();
  const scanner = new DirectoryScanner();
  const counted = new Set<number>();
  let bytes = 0;
  return withRoot(root, (rootFd) => {
    stat.readFd(rootFd);
    const { mountId } = stat;
    const pending = ["" as RelativePath];
    for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
      const here = folder;
      readable(rootFd, here, (fd) => {
        scanner.open(fd);
        while (scanner.next()) {
          const path = joinPath(here, scanner.name);
          const isOutside = (only !== null && path !== only) || exclude.includes(path);
          if (isOutside || !scanner.stat(stat) || stat.mountId !== mountId) continue;
          const type = stat.mode & MODE.typeMask;
          if (type === MODE.directory) pending.push(path);
          if (type !== MODE.file || counted.has(stat.inoNumber)) continue;
          if (stat.nlink > 1) counted.add(stat.inoNumber);
          bytes += Math.min(stat.sizeNumber, stat.blocks * 512);
        }
      });
    }
    return bytes;
  });
}

/** Leaves out what this user may not look into, such as what an overlay of a user namespace keeps for itself. */
function readable(rootFd: number, path: RelativePath, work: (fd: number) => void): void {
  try {
    withFolder(rootFd, path, work);
  } catch (error) {
    throwUnlessErrno(error, "EACCES");
  }
}
