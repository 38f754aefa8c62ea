import { nameOf } from "../../model/byte-path.ts";
import type { OpenPlace, SandboxPlace } from "../../tree/workspace.ts";
import { borrowLayers } from "./borrowed-layers.ts";
import { cloneLayer } from "./clone-layer.ts";
import { makeFolders, makeLayer } from "./create.ts";
import { requireCheckpoint } from "./layer-control.ts";
import {
  MASK_LAYER,
  NAMES,
  layerPath,
  layersOf,
  requireState,
  withFolder,
} from "./sandbox-files.ts";
import type { OverlayState, StoredBase } from "./state.ts";

/** The first layer that a sandbox works in. */
const FIRST = "1";

/**
 * Makes the folders of a sandbox over the frozen layers of another one's checkpoint, which are borrowed and not copied,
 * and gives its first state, which nobody has written yet. The base stays that of the checkpoint.
 */
export async function forkLayers(
  from: OpenPlace,
  checkpointId: string,
  place: SandboxPlace,
): Promise<OverlayState> {
  const state = await requireState(from);
  const kept = requireCheckpoint(state, checkpointId);
  await makeFolders(place);
  if (state.isMasked) await clone(from, MASK_LAYER, place, MASK_LAYER, state);
  const top = kept.layers.at(-1);
  if (state.isNested && top !== undefined) {
    await clone(from, top, place, FIRST, state);
    return firstState(state, [], kept.base);
  }
  const layers = await borrowLayers(from, kept.layers, place);
  const like = top === undefined ? place.root : layerPath(from.directory, top);
  await withFolder(like, (fd) => makeLayer(place, FIRST, fd));
  return firstState(state, layers, kept.base);
}

/** The first state of a sandbox whose content is a copy of another one's. */
export async function forkCopied(from: OpenPlace, place: SandboxPlace): Promise<OverlayState> {
  const state = await requireState(from);
  await makeFolders(place);
  await withFolder(place.root, (fd) => makeLayer(place, FIRST, fd));
  return firstState(state, [], state.base);
}

function firstState(
  { mode, dialect, tried, isMasked, isNested, root, user, showsOwnGroup }: OverlayState,
  layers: readonly string[],
  base: StoredBase,
): OverlayState {
  return {
    ...{ mode, dialect, tried, isMasked, isNested, root, layers, base },
    ...(user !== undefined && { user }),
    ...(showsOwnGroup !== undefined && { showsOwnGroup }),
    generation: 0,
    nextLayer: Number(FIRST) + 1,
    upper: FIRST,
    checkpoints: [],
    view: null,
    isFuseUpper: false,
  };
}

async function clone(
  from: SandboxPlace,
  layer: string,
  place: SandboxPlace,
  name: string,
  { dialect }: OverlayState,
): Promise<void> {
  await withFolder(layersOf(place.directory), (fd) =>
    cloneLayer(fd, `../../${nameOf(from.directory)}/${NAMES.layers}/${layer}`, name, dialect),
  );
}
