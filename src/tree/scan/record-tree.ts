import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import { joinPath } from "../../model/byte-path.ts";
import { DirectoryScanner, MODE, StatBuffer, readlinkAt } from "../../platform/native/index.ts";
import { FIELD, FLAG } from "./manifest.ts";
import { ManifestBuilder } from "./manifest-builder.ts";
import { withFolder, withRoot } from "./open-directory.ts";

/** A tree whose present state is to be recorded. */
export interface RecordRequest {
  readonly root: BytePath;
  readonly only: BytePath | null;
  readonly exclude: readonly RelativePath[];
}

/** The manifest of a tree as it is, for a later comparison with itself. Reads no content. */
export function recordTree(request: RecordRequest): Uint8Array {
  const builder = new ManifestBuilder();
  const stat = new StatBuffer();
  const scanner = new DirectoryScanner();
  return withRoot(request.root, (rootFd) => {
    stat.readFd(rootFd);
    const { mountId } = stat;
    const pending = [{ record: builder.add(0, "", stat), path: "" as RelativePath }];
    for (let at = 0; at < pending.length; at++) {
      const folder = pending[at]!;
      const start = builder.count;
      withFolder(rootFd, folder.path, (fd) => {
        scanner.open(fd);
        while (scanner.next()) {
          const path = joinPath(folder.path, scanner.name);
          const isOutside = request.only !== null && path !== (request.only as string);
          if (isOutside || request.exclude.includes(path) || !scanner.stat(stat)) continue;
          const record = builder.add(folder.record, scanner.name, stat);
          const type = stat.mode & MODE.typeMask;
          if (type === MODE.symlink) builder.setTarget(record, readlinkAt(fd, scanner.name));
          const isKnown = type === MODE.file || type === MODE.directory || type === MODE.symlink;
          if (!isKnown || stat.mountId !== mountId) builder.set(record, FIELD.flags, FLAG.skipped);
          else if (type === MODE.directory) pending.push({ record, path });
        }
      });
      builder.set(folder.record, FIELD.childStart, start);
      builder.set(folder.record, FIELD.childCount, builder.count - start);
    }
    return builder.finishAsOwnCopy().toBytes();
  });
}
