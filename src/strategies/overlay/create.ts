import { type RelativePath, ROOT, joinPath, nameOf, parentOf } from "../../model/byte-path.ts";
import {
  OPEN,
  close,
  fileHandleAt,
  futimens,
  mkdirAt,
  openAt,
  openBeneath,
  statFd,
  symlinkAt,
} from "../../platform/native/index.ts";
import { takeBaseTime } from "../../tree/base-time.ts";
import { setAttributes } from "../../tree/entry-attributes.ts";
import { readFolderAttributes } from "../../tree/folder-attributes.ts";
import { removeTree } from "../../tree/remove-tree.ts";
import { openRoot } from "../../tree/scan/open-directory.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";
import { describeBase, writeBaseMark } from "./base-mark.ts";
import { type Dialect, findStat, makeWhiteout } from "./marks.ts";
import type { ChosenMode } from "./modes.ts";
import { handleKey } from "./origins.ts";
import { MASK_LAYER, NAMES, layerPath, withFolder } from "./sandbox-files.ts";
import type { OverlayState } from "./state.ts";

const DIRECTORY = OPEN.readOnly | OPEN.directory | OPEN.noFollow;

/** Makes the folders that every mode needs, and the link by which mounts name the real directory. */
export async function makeFolders(place: SandboxPlace): Promise<void> {
  await withFolder(place.directory, (fd) => {
    const { layers, work, mountPoint, spare, base } = NAMES;
    for (const name of [layers, work, mountPoint, spare]) mkdirAt(fd, name, 0o700);
    symlinkAt(place.root, fd, base);
  });
}

/** Makes the first layers and gives the first state, which nobody has written yet. */
export async function makeLayers(place: SandboxPlace, chosen: ChosenMode): Promise<OverlayState> {
  const dialect: Dialect =
    chosen.mode !== "userns" && process.geteuid?.() === 0 ? "trusted" : "user";
  const rootFd = openRoot(place.root);
  try {
    const isMasked = place.exclude.length > 0;
    if (isMasked) await makeMask(place, rootFd, dialect);
    await makeLayer(place, "1", rootFd);
    const handle = fileHandleAt(rootFd, "");
    return {
      mode: chosen.mode,
      dialect,
      tried: chosen.tried,
      generation: 0,
      nextLayer: 2,
      layers: [],
      upper: "1",
      isMasked,
      root: {
        ino: statFd(rootFd).ino.toString(),
        handle: handle === null ? "" : handleKey(handle),
      },
      base: { timeNs: takeBaseTime(place.directory).toString(), rebased: [] },
      checkpoints: [],
      view: null,
      isFuseUpper: false,
    };
  } finally {
    close(rootFd);
  }
}

/** Makes an empty layer whose root has the attributes of an open folder: a view shows them as the root's own. */
export async function makeLayer(place: SandboxPlace, name: string, likeFd: number): Promise<void> {
  await withFolder(joinPath(place.directory, NAMES.layers), (fd) => {
    // A call that was ended before its layer counted may have left one of this number.
    removeTree(fd, name);
    mkdirAt(fd, name, 0o700);
    const layerFd = openAt(fd, name, DIRECTORY);
    try {
      setAttributes(layerFd, readFolderAttributes(likeFd));
    } finally {
      close(layerFd);
    }
  });
}

/** Whiteouts for our own folders inside the resource, under all other layers, so that no view shows them. */
async function makeMask(place: SandboxPlace, rootFd: number, dialect: Dialect): Promise<void> {
  await makeLayer(place, MASK_LAYER, rootFd);
  await withFolder(layerPath(place.directory, MASK_LAYER), (maskFd) => {
    for (const path of place.exclude) {
      const folderFd = openMaskFolder(maskFd, rootFd, parentOf(path), dialect);
      try {
        if (findStat(folderFd, nameOf(path)) === null) makeWhiteout(folderFd, nameOf(path));
      } finally {
        close(folderFd);
      }
    }
    alignTimes(maskFd, rootFd, place.exclude);
  });
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
