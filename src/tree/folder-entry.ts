import { statFd } from "../platform/native/index.ts";
import { readFolderAttributes } from "./folder-attributes.ts";
import type { TreeEntry } from "./tree-entry.ts";

/** An open directory as an entry. */
export function folderEntry(fd: number): TreeEntry {
  const { mode, uid, gid, nlink, size, ino, dev, mtimeNs, ctimeNs } = statFd(fd);
  const { xattrs } = readFolderAttributes(fd);
  return {
    type: "directory",
    mode,
    uid,
    gid,
    nlink,
    size: Number(size),
    ino,
    dev,
    mtimeNs,
    ctimeNs,
    target: null,
    xattrs,
  };
}
