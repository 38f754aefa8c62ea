import { type RelativePath, joinPath } from "../../model/byte-path.ts";
import { readDirectory, throwUnlessErrno } from "../../platform/native/index.ts";
import { statBeneath } from "../../tree/beneath.ts";
import { findEntry } from "../../tree/read-entry.ts";
import { withFolder, withRoot } from "../../tree/scan/open-directory.ts";
import { replaceRecords } from "../../tree/scan/replace-records.ts";
import { type TreeEntry, sameAttributes } from "../../tree/tree-entry.ts";
import type { OpenPlace } from "../../tree/workspace.ts";
import { type Generation, readManifest, writeManifest } from "./generation.ts";

/** Records real entries as the base of a workspace; below the folders in `whole`, all that the real tree has. */
export async function acceptBase(
  place: OpenPlace,
  { folder, tree }: Generation,
  base: ReadonlyMap<RelativePath, TreeEntry | null>,
  whole: readonly RelativePath[],
): Promise<void> {
  const all = new Map(base);
  for (const path of whole) {
    for (const [below, entry] of entriesBelow(place, path)) all.set(below, entry);
  }
  const copyOf = (path: RelativePath): TreeEntry | null => {
    const own = statBeneath(tree, path);
    const real = all.get(path) ?? null;
    return own !== null && real !== null && isCopy(own, real) ? own : null;
  };
  await writeManifest(folder, replaceRecords(readManifest(folder), all, copyOf));
}

/** Whether the entry of the workspace is a copy of the real one, as far as a copy can be. */
function isCopy(own: TreeEntry, real: TreeEntry): boolean {
  if (own.type !== real.type || own.target !== real.target) return false;
  const isSame =
    own.type === "directory" || (own.size === real.size && own.mtimeNs === real.mtimeNs);
  return (
    isSame &&
    sameAttributes({ ...own, uid: 0, gid: 0 }, { ...real, mode: real.mode & 0o777, uid: 0, gid: 0 })
  );
}

/** What the real tree has below a folder. */
export function entriesBelow(place: OpenPlace, path: RelativePath): [RelativePath, TreeEntry][] {
  const found: [RelativePath, TreeEntry][] = [];
  withRoot(place.root, (rootFd) => {
    const pending = [path];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      const folder = at;
      try {
        withFolder(rootFd, folder, (fd) => {
          for (const { name } of readDirectory(fd)) {
            const below = joinPath(folder, name);
            const entry = place.exclude.includes(below) ? null : findEntry(fd, name);
            if (entry === null) continue;
            found.push([below, entry]);
            if (entry.type === "directory") pending.push(below);
          }
        });
      } catch (error) {
        // Somebody removed it meanwhile; what they do is found out when it counts.
        throwUnlessErrno(error, "ENOENT", "ENOTDIR", "ELOOP");
      }
    }
  });
  return found;
}
