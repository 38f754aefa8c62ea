import { randomBytes } from "node:crypto";
import { writeSync } from "node:fs";
import {
  type BytePath,
  type RelativePath,
  ROOT,
  ancestorsOf,
  nameOf,
  parentOf,
} from "../../model/byte-path.ts";
import {
  OPEN,
  close,
  mkdirAt,
  openAt,
  renameAt,
  throwUnlessErrno,
  unlinkAt,
} from "../../platform/native/index.ts";
import { pathError, refuseOverwrite, typed } from "../../tree/beneath.ts";
import { attributesOf, setAttributes } from "../../tree/entry-attributes.ts";
import type { Owners } from "../../tree/owners.ts";
import { findEntry } from "../../tree/read-entry.ts";
import { openFolder, withFolder, withRoot } from "../../tree/scan/open-directory.ts";

/**
 * Replaces or creates a file through a mounted view. The new content is built in the same folder, because nothing can
 * be renamed into a mount from outside; readers see the old content or the new. `known` has the owner and group that an
 * existing file keeps, where the mount does not show them.
 */
export function writeMounted(
  root: BytePath,
  path: RelativePath,
  content: Uint8Array,
  known: Owners | null = null,
): void {
  if (path === ROOT) throw pathError(path, "directory");
  typed(root, path, () =>
    withRoot(root, (rootFd) => {
      makeFolders(rootFd, path);
      withFolder(rootFd, parentOf(path), (folderFd) => {
        const existing = findEntry(folderFd, nameOf(path));
        refuseOverwrite(path, existing);
        const temporary = `.cofferdam-${randomBytes(12).toString("hex")}`;
        const flags = OPEN.writeOnly | OPEN.create | OPEN.exclusive | OPEN.noFollow;
        const fd = openAt(folderFd, temporary, flags, 0o666);
        try {
          for (let at = 0; at < content.length;) at += writeSync(fd, content, at);
          if (existing !== null) {
            const { uid, gid } = known ?? existing;
            setAttributes(fd, { ...attributesOf(existing), uid, gid, mtimeNs: null });
          }
          renameAt(folderFd, temporary, folderFd, nameOf(path));
        } catch (error) {
          unlinkAt(folderFd, temporary);
          throw error;
        } finally {
          close(fd);
        }
      });
    }),
  );
}

function makeFolders(rootFd: number, path: RelativePath): void {
  for (const folder of ancestorsOf(path).slice(1)) {
    try {
      close(openFolder(rootFd, folder));
    } catch (error) {
      throwUnlessErrno(error, "ENOENT");
      withFolder(rootFd, parentOf(folder), (fd) => mkdirAt(fd, nameOf(folder), 0o777));
    }
  }
}
