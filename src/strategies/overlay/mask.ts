import { type RelativePath, ROOT, isWithin, nameOf, parentOf } from "../../model/byte-path.ts";
import {
  OPEN,
  close,
  futimens,
  mkdirAt,
  openAt,
  openBeneath,
  statFd,
} from "../../platform/native/index.ts";
import { setAttributes } from "../../tree/entry-attributes.ts";
import { readFolderAttributes } from "../../tree/folder-attributes.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";
import { describeBase, writeBaseMark } from "./base-mark.ts";
import { type Dialect, findStat, makeWhiteout } from "./marks.ts";
import { layerPath, withFolder } from "./sandbox-files.ts";
import { canonicalPath } from "./unmount.ts";

const DIRECTORY = OPEN.readOnly | OPEN.directory | OPEN.noFollow;

/**
 * Whether the layers lie inside the resource. The kernel then takes none of them as a lower layer, because each would
 * lie inside another one.
 */
export function isNested(place: SandboxPlace): boolean {
  return isWithin(canonicalPath(place.directory), canonicalPath(place.root));
}

/** Puts whiteouts for our own folders inside the resource into a fresh layer, so that no view shows them. */
export async function maskLayer(
  place: SandboxPlace,
  name: string,
  rootFd: number,
  dialect: Dialect,
): Promise<void> {
  await withFolder(layerPath(place.directory, name), (fd) =>
    writeMasks(fd, rootFd, place.exclude, dialect),
  );
}

/** The same for an open layer and any paths. */
export function writeMasks(
  maskFd: number,
  rootFd: number,
  paths: readonly RelativePath[],
  dialect: Dialect,
): void {
  for (const path of paths) {
    const folderFd = openMaskFolder(maskFd, rootFd, parentOf(path), dialect);
    try {
      if (findStat(folderFd, nameOf(path)) === null) makeWhiteout(folderFd, nameOf(path));
    } finally {
      close(folderFd);
    }
  }
  alignTimes(maskFd, rootFd, paths);
}

function openMaskFolder(
  maskFd: number,
  rootFd: number,
  path: RelativePath,
  dialect: Dialect,
): number {
  if (path === ROOT) return openBeneath(maskFd, ROOT, DIRECTORY);
  const parentFd = openMaskFolder(maskFd, rootFd, parentOf(path), dialect);
  try {
    if (findStat(parentFd, nameOf(path)) === null) mkdirAt(parentFd, nameOf(path), 0o700);
    const fd = openAt(parentFd, nameOf(path), DIRECTORY);
    const realFd = openBeneath(rootFd, path, DIRECTORY);
    try {
      setAttributes(fd, readFolderAttributes(realFd));
      writeBaseMark(fd, dialect, describeBase(realFd, path));
    } finally {
      close(realFd);
    }
    return fd;
  } finally {
    close(parentFd);
  }
}

/** Making entries moved the times of the folders that hold them. */
function alignTimes(maskFd: number, rootFd: number, exclude: readonly RelativePath[]): void {
  const folders = new Set<RelativePath>([ROOT]);
  for (const path of exclude) {
    for (let at = parentOf(path); at !== ROOT; at = parentOf(at)) folders.add(at);
  }
  for (const path of [...folders].sort().reverse()) {
    const fd = openBeneath(maskFd, path, DIRECTORY);
    const realFd = openBeneath(rootFd, path, DIRECTORY);
    try {
      const { mtimeNs } = statFd(realFd);
      futimens(fd, null, mtimeNs);
    } finally {
      close(realFd);
      close(fd);
    }
  }
}
