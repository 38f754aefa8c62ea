import {
  OPEN,
  close,
  fileHandleAt,
  mkdirAt,
  openAt,
  statFd,
  symlinkAt,
} from "../../platform/native/index.ts";
import { takeBaseTime } from "../../tree/base-time.ts";
import { setAttributes } from "../../tree/entry-attributes.ts";
import { readFolderAttributes } from "../../tree/folder-attributes.ts";
import { presentUser } from "../../tree/owners.ts";
import { removeTree } from "../../tree/remove-tree.ts";
import { openRoot } from "../../tree/scan/open-directory.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";
import type { Dialect } from "./marks.ts";
import { isNested, maskLayer } from "./mask.ts";
import type { ChosenMode } from "./modes.ts";
import { handleKey } from "./origins.ts";
import { MASK_LAYER, NAMES, layersOf, withFolder } from "./sandbox-files.ts";
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
export async function makeLayers(
  place: SandboxPlace,
  chosen: ChosenMode,
  showsOwnGroup: boolean,
): Promise<OverlayState> {
  const dialect: Dialect =
    chosen.mode !== "userns" && process.geteuid?.() === 0 ? "trusted" : "user";
  const rootFd = openRoot(place.root);
  try {
    const nested = isNested(place);
    const isMasked = place.exclude.length > 0 && !nested;
    if (isMasked) {
      await makeLayer(place, MASK_LAYER, rootFd);
      await maskLayer(place, MASK_LAYER, rootFd, dialect);
    }
    await makeLayer(place, "1", rootFd);
    if (nested) await maskLayer(place, "1", rootFd, dialect);
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
      isNested: nested,
      root: {
        ino: statFd(rootFd).ino.toString(),
        handle: handle === null ? "" : handleKey(handle),
      },
      base: { timeNs: takeBaseTime(place.directory).toString(), rebased: [] },
      checkpoints: [],
      // It may be mounted at any time from now on: said once here, it need not be written before the mount.
      view: chosen.mode === "kernel" ? "kernel" : null,
      isFuseUpper: false,
      user: presentUser(),
      showsOwnGroup,
    };
  } finally {
    close(rootFd);
  }
}

/** Makes an empty upper layer. One that lies inside the resource hides our own folders by itself. */
export async function makeUpper(
  place: SandboxPlace,
  state: OverlayState,
  name: string,
  likeFd: number,
): Promise<void> {
  await makeLayer(place, name, likeFd);
  if (!state.isNested) return;
  await withFolder(place.root, (rootFd) => maskLayer(place, name, rootFd, state.dialect));
}

/** Makes an empty layer whose root has the attributes of an open folder: a view shows them as the root's own. */
export async function makeLayer(place: SandboxPlace, name: string, likeFd: number): Promise<void> {
  await withFolder(layersOf(place.directory), (fd) => {
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
