import {
  type BytePath,
  type RelativePath,
  ROOT,
  displayPath,
  isTextPath,
  joinPath,
  nameOf,
  parentOf,
  toBytePath,
} from "../../model/byte-path.ts";
import type { EntryState } from "../../model/change.ts";
import { readDirectory } from "../../platform/native/index.ts";
import { statBeneath } from "../beneath.ts";
import { hashAt } from "../content.ts";
import { folderEntry } from "../folder-entry.ts";
import { findEntry } from "../read-entry.ts";
import { withFolder, withRoot } from "../scan/open-directory.ts";
import type { TreeEntry } from "../tree-entry.ts";
import { entryState } from "../view/entry-state.ts";

/** What a directory holds, by path; the directory itself has the empty one. */
export type TreeState = ReadonlyMap<string, EntryState>;

/**
 * Everything in a directory, with the hash of every file. Links are entries and never ways; a name that is no text is
 * left out, and so is what lies at or below the absolute paths of `exclude`.
 */
export function readTreeState(
  root: string,
  { exclude = [] }: { readonly exclude?: readonly string[] | undefined } = {},
): Promise<TreeState> {
  const hidden = new Set<BytePath>(exclude.map((path) => toBytePath(path)));
  const top = toBytePath(root);
  return Promise.resolve().then(() =>
    withRoot(top, (rootFd) => readFrom(rootFd, (path) => hidden.has(joinPath(top, path)))),
  );
}

/** One entry below a directory, a file with its hash; null when there is none. No link on the way is followed. */
export function readEntryState(root: string, path: string): Promise<EntryState | null> {
  return Promise.resolve().then(() => {
    const [top, inner] = [toBytePath(root), toBytePath(path) as RelativePath];
    const entry = statBeneath(top, inner);
    if (entry?.type !== "file") return entry && entryState(entry, null);
    return withRoot(top, (rootFd) =>
      withFolder(rootFd, parentOf(inner), (fd) => hashed(fd, nameOf(inner), entry)),
    );
  });
}

function readFrom(rootFd: number, isHidden: (path: RelativePath) => boolean): TreeState {
  const state = new Map([["", entryState(folderEntry(rootFd), null)]]);
  const folders = [ROOT];
  for (const folder of folders) {
    withFolder(rootFd, folder, (fd) => {
      for (const { name } of readDirectory(fd)) {
        const path = joinPath(folder, name);
        const entry = isHidden(path) || !isTextPath(path) ? null : findEntry(fd, name);
        if (entry === null) continue;
        state.set(displayPath(path), hashed(fd, name, entry));
        if (entry.type === "directory") folders.push(path);
      }
    });
  }
  return state;
}

function hashed(dirFd: number, name: string, entry: TreeEntry): EntryState {
  return entryState(entry, entry.type === "file" ? hashAt(dirFd, name) : null);
}
