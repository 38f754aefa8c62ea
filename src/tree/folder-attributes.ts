import { getXattr, listXattrs, statFd } from "../platform/native/index.ts";
import type { EntryAttributes } from "./entry-attributes.ts";
import { collectXattrs } from "./read-entry.ts";

/** Mode, owner, extended attributes and times of an open directory. */
export function readFolderAttributes(fd: number): EntryAttributes {
  const { mode, uid, gid, atimeNs, mtimeNs } = statFd(fd);
  const xattrs = collectXattrs(listXattrs(fd), (attribute) => getXattr(fd, attribute));
  return { mode, uid, gid, atimeNs, mtimeNs, xattrs };
}
