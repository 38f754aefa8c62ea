import { mkdirSync } from "node:fs";
import {
  type BytePath,
  type RelativePath,
  ancestorsOf,
  displayPath,
  nameOf,
  parentOf,
} from "../../model/byte-path.ts";
import { RENAME, mkdirAt, renameAt, statIfThere, symlinkAt } from "../../platform/native/index.ts";
import { pathError, removeBeneath, statBeneath, typed } from "../../tree/beneath.ts";
import { checkSpace } from "../../tree/check-space.ts";
import { copyFileTo } from "../../tree/copy-entry.ts";
import { copyTree } from "../../tree/copy-tree.ts";
import {
  attributesOf,
  setAttributes,
  setLinkAttributes,
  withoutSpecialBits,
} from "../../tree/entry-attributes.ts";
import { removeFolder } from "../../tree/remove-folders.ts";
import { removeTree } from "../../tree/remove-tree.ts";
import { withFolder, withRoot } from "../../tree/scan/open-directory.ts";
import type { TreeEntry } from "../../tree/tree-entry.ts";
import type { OpenPlace } from "../../tree/workspace.ts";
import type { CopyMode } from "./make-copy.ts";

const BUILT = "entry" as RelativePath;

/**
 * Makes a workspace show at a path what the real tree has there; a new entry is whole before it is in place. `home` is a
 * private folder from which one can rename into the workspace.
 */
export async function takeBack(
  place: OpenPlace,
  { tree, home }: { readonly tree: BytePath; readonly home: BytePath },
  path: RelativePath,
  real: TreeEntry | null,
  mode: CopyMode,
): Promise<void> {
  const own = statBeneath(tree, path);
  if (real === null) {
    if (own !== null) removeBeneath(tree, path);
    return;
  }
  if (real.type === "directory" && own?.type === "directory") {
    typed(tree, path, () => dress(tree, path, real));
    return;
  }
  if (real.type === "special") throw pathError(path, "special");
  const missing = ancestorsOf(path).filter((folder) => statBeneath(tree, folder) === null);
  const spare = `${home}/take-back` as BytePath;
  removeFolder(spare);
  mkdirSync(displayPath(spare), { mode: 0o700 });
  try {
    await build(place, path, real, spare, mode);
    typed(tree, path, () => {
      for (const folder of missing) makeFolder(tree, folder);
      withRoot(spare, (spareFd) => put(spareFd, tree, path));
    });
  } finally {
    removeFolder(spare);
  }
  for (const folder of missing.toReversed()) {
    const entry = statBeneath(place.root, folder);
    if (entry?.type === "directory") dress(tree, folder, entry);
  }
}

/** Copies the real entry into the spare folder. */
async function build(
  place: OpenPlace,
  path: RelativePath,
  real: TreeEntry,
  spare: BytePath,
  mode: CopyMode,
): Promise<void> {
  if (real.type === "directory") {
    const target = `${spare}/${BUILT}` as BytePath;
    mkdirSync(displayPath(target), { mode: 0o700 });
    const below = `${path}/`;
    await copyTree({
      source: `${place.root}/${path}` as BytePath,
      target,
      exclude: place.exclude
        .filter((hidden) => hidden.startsWith(below))
        .map((hidden) => hidden.slice(below.length) as RelativePath),
      reflink: mode,
      beforeCopy: (bytes, entries) => checkSpace(target, { bytes, entries, reflink: mode }),
    });
    return;
  }
  withRoot(place.root, (rootFd) =>
    withFolder(rootFd, parentOf(path), (fd) =>
      withRoot(spare, (spareFd) => {
        if (real.type === "file") {
          copyFileTo(fd, nameOf(path), spareFd, BUILT, { reflink: mode });
        } else {
          symlinkAt(real.target!, spareFd, BUILT);
          setLinkAttributes(spareFd, BUILT, attributesOf(real));
        }
      }),
    ),
  );
}

function put(spareFd: number, tree: BytePath, path: RelativePath): void {
  withRoot(tree, (treeFd) =>
    withFolder(treeFd, parentOf(path), (fd) => {
      const isTaken = statIfThere(fd, nameOf(path)) !== null;
      renameAt(spareFd, BUILT, fd, nameOf(path), isTaken ? RENAME.exchange : RENAME.noReplace);
      if (isTaken) removeTree(spareFd, BUILT);
    }),
  );
}

function makeFolder(tree: BytePath, path: RelativePath): void {
  withRoot(tree, (treeFd) =>
    withFolder(treeFd, parentOf(path), (fd) => mkdirAt(fd, nameOf(path), 0o700)),
  );
}

function dress(tree: BytePath, path: RelativePath, real: TreeEntry): void {
  const attributes = withoutSpecialBits(attributesOf(real));
  withRoot(tree, (treeFd) => withFolder(treeFd, path, (fd) => setAttributes(fd, attributes)));
}
