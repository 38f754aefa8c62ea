import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import {
  type BytePath,
  type RelativePath,
  displayPath,
  nameOf,
  parentOf,
} from "../../model/byte-path.ts";
import { isErrno } from "../../platform/native/index.ts";
import { copyFileTo } from "../copy-entry.ts";
import { copyTree } from "../copy-tree.ts";
import { removeTree } from "../remove-tree.ts";
import { withFolder, withRoot } from "../scan/open-directory.ts";
import type { SandboxPlace } from "../workspace.ts";

const folderOf = (place: SandboxPlace): string => `${displayPath(place.directory)}/pre`;

/** Where the base of a path is kept once the sandbox wrote it. */
function preImageOf(place: SandboxPlace, path: RelativePath): BytePath {
  const name = createHash("sha256").update(path, "latin1").digest("hex");
  return `${place.directory}/pre/${name}` as BytePath;
}

/**
 * Keeps a copy of the base file before the sandbox's first own write to it, so that a later three-way merge has a
 * proven ancestor. The caller has verified that the real file still is the base.
 */
export async function keepPreImage(place: SandboxPlace, path: RelativePath): Promise<void> {
  const target = preImageOf(place, path);
  if (existsSync(Buffer.from(target, "latin1"))) return;
  await mkdir(folderOf(place), { recursive: true, mode: 0o700 });
  try {
    withRoot(place.root, (rootFd) =>
      withFolder(rootFd, parentOf(path), (sourceFd) =>
        withRoot(`${place.directory}/pre` as BytePath, (targetFd) =>
          copyFileTo(sourceFd, nameOf(path), targetFd, nameOf(target), { reflink: "auto" }),
        ),
      ),
    );
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error;
  }
}

/** The proven ancestor of a path: our own pre-image, or the copy of the whole base; null when there is none. */
export function findAncestor(place: SandboxPlace, path: RelativePath): BytePath | null {
  const candidates = [preImageOf(place, path), `${place.directory}/base/${path}` as BytePath];
  return candidates.find((file) => existsSync(Buffer.from(file, "latin1"))) ?? null;
}

/**
 * Copies the whole base aside for later merges, when the resource's property `base` is `"keep"`: shared blocks where the
 * file system can, else a plain copy. It must be taken before the workspace is made: a copy that is younger than the
 * sandbox could hold an edit of somebody else, and a merge against it would lose that edit.
 */
export async function copyBase(place: SandboxPlace, signal?: AbortSignal): Promise<void> {
  if (place.resource.properties?.["base"] !== "keep") return;
  const target = asideOf(place);
  await mkdir(displayPath(target), { mode: 0o700 });
  const { root: source, only, exclude } = place;
  await copyTree({ source, target, only, exclude, reflink: "auto", signal });
}

/** Puts the copy of the base into the finished sandbox. */
export async function adoptBase(place: SandboxPlace): Promise<void> {
  if (place.resource.properties?.["base"] !== "keep") return;
  await rename(displayPath(asideOf(place)), `${displayPath(place.directory)}/base`);
}

/** Removes a copy whose sandbox never came to be. */
export function dropBase(place: SandboxPlace): void {
  withRoot(parentFolderOf(place), (fd) => removeTree(fd, `${nameOf(place.directory)}-base`));
}

const asideOf = (place: SandboxPlace): BytePath => `${place.directory}-base` as BytePath;

function parentFolderOf({ directory }: SandboxPlace): BytePath {
  return directory.slice(0, directory.lastIndexOf("/")) as BytePath;
}
