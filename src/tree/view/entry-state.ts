import { displayPath } from "../../model/byte-path.ts";
import type { EntryState } from "../../model/change.ts";
import type { TreeEntry } from "../tree-entry.ts";

/** The public form of an entry. */
export function entryState(entry: TreeEntry, hash: string | null): EntryState {
  const { type, mode, uid, gid, target, xattrs } = entry;
  return {
    type,
    size: type === "file" ? entry.size : 0,
    mode,
    uid,
    gid,
    hash,
    target: target === null ? null : displayPath(target),
    mtimeNs: entry.mtimeNs.toString(),
    ...(xattrs !== null && { xattrs: encodeXattrs(xattrs) }),
  };
}

function encodeXattrs(xattrs: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(xattrs).map(([name, value]) => [
      name,
      Buffer.from(value, "latin1").toString("base64"),
    ]),
  );
}
