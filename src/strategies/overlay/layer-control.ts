import { CheckpointError } from "../../errors/index.ts";
import { joinPath } from "../../model/byte-path.ts";
import { AT, OPEN, close, openAt, readDirectory } from "../../platform/native/index.ts";
import { takeBaseTime } from "../../tree/base-time.ts";
import { folderEntry } from "../../tree/folder-entry.ts";
import { presentUser, withRealOwners } from "../../tree/owners.ts";
import { removeTree } from "../../tree/remove-tree.ts";
import { sameAttributes } from "../../tree/tree-entry.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";
import { lentLayers } from "./borrowed-layers.ts";
import { cloneLayer } from "./clone-layer.ts";
import { makeLayer, makeUpper } from "./create.ts";
import { removeNames } from "./remove-names.ts";
import { MASK_LAYER, NAMES, layerPath, layersOf, withFolder } from "./sandbox-files.ts";
import { limitLayers } from "./squash-layers.ts";
import { type OverlayState, type StoredCheckpoint, saveState } from "./state.ts";

const DIRECTORY = OPEN.readOnly | OPEN.directory | OPEN.noFollow;

/** Makes the upper layer a frozen one with a new empty one above it: the same view, at constant cost. */
export async function freezeUpper(place: SandboxPlace, state: OverlayState): Promise<OverlayState> {
  if (isUntouched(place, state)) return state;
  return limitLayers(place, await saveState(place.directory, await startUpper(place, state)));
}

/** An upper layer that says nothing needs no freezing: the layers below are the whole view. */
function isUntouched(place: SandboxPlace, state: OverlayState): boolean {
  const { user = presentUser() } = state;
  const below = state.layers.at(-1);
  const upperFd = openAt(AT.workingDirectory, layerPath(place.directory, state.upper), DIRECTORY);
  const belowPath = below === undefined ? place.root : layerPath(place.directory, below);
  const belowFd = openAt(AT.workingDirectory, belowPath, DIRECTORY);
  try {
    if (readDirectory(upperFd).length > 0) return false;
    const [upper, lower] = [folderEntry(upperFd), folderEntry(belowFd)];
    const own = withRealOwners(upper, lower, user);
    return sameAttributes(own, lower) && upper.mtimeNs === lower.mtimeNs;
  } finally {
    close(upperFd);
    close(belowFd);
  }
}

/** Copies the upper layer, which somebody is using, into a frozen one; gives its name, not yet part of the state. */
export async function copyUpper(place: SandboxPlace, state: OverlayState): Promise<string> {
  return copyLayer(place, state, state.upper);
}

async function copyLayer(place: SandboxPlace, state: OverlayState, from: string): Promise<string> {
  const name = String(state.nextLayer);
  await withFolder(layersOf(place.directory), (fd) => {
    removeTree(fd, name);
    cloneLayer(fd, from, name, state.dialect);
  });
  return name;
}

/** A new upper layer that says the same as the present one, and the state with it, not yet saved. */
export async function startUpper(place: SandboxPlace, state: OverlayState): Promise<OverlayState> {
  const nextLayer = state.nextLayer + 1;
  if (state.isNested) return { ...state, upper: await copyUpper(place, state), nextLayer };
  const upper = String(state.nextLayer);
  await withFolder(layerPath(place.directory, state.upper), (fd) => makeLayer(place, upper, fd));
  return { ...state, layers: [...state.layers, state.upper], upper, nextLayer };
}

/** Starts over: an empty upper layer above the given frozen ones, and the base that belongs to them. */
export async function startOver(
  place: SandboxPlace,
  state: OverlayState,
  from: StoredCheckpoint | null,
): Promise<OverlayState> {
  const top = from?.layers.at(-1);
  const upper =
    state.isNested && top !== undefined
      ? await copyLayer(place, state, top)
      : await makeUpperLike(place, state, top);
  return saveState(place.directory, {
    ...state,
    layers: state.isNested ? [] : (from?.layers ?? []),
    upper,
    nextLayer: state.nextLayer + 1,
    base: from?.base ?? { timeNs: takeBaseTime(place.directory).toString(), rebased: [] },
    isFuseUpper: false,
  });
}

async function makeUpperLike(
  place: SandboxPlace,
  state: OverlayState,
  top: string | undefined,
): Promise<string> {
  const name = String(state.nextLayer);
  const like = top === undefined ? place.root : layerPath(place.directory, top);
  await withFolder(like, (fd) => makeUpper(place, state, name, fd));
  return name;
}

/** The checkpoint with this id. */
export function requireCheckpoint(state: OverlayState, id: string): StoredCheckpoint {
  const found = state.checkpoints.find((checkpoint) => checkpoint.id === id);
  if (found === undefined) throw checkpointError(id, "unknown");
  return found;
}

/** An error about a checkpoint. */
export function checkpointError(
  checkpointId: string,
  reason: CheckpointError["data"]["reason"],
): CheckpointError {
  const what = reason === "duplicate" ? "exists already" : "does not exist";
  return new CheckpointError(`The checkpoint ${checkpointId} ${what}`, {
    data: { checkpointId, reason },
  });
}

/** Removes layers that neither the view nor a checkpoint uses, and leftovers in the spare folder; gives what stayed. */
export async function dropUnused(place: SandboxPlace, state: OverlayState): Promise<string[]> {
  const used = new Set([
    MASK_LAYER,
    ...(await lentLayers(place.directory)),
    state.upper,
    ...state.layers,
    ...state.checkpoints.flatMap((checkpoint) => checkpoint.layers),
  ]);
  return [
    ...(await removeNames(layersOf(place.directory), (name) => !used.has(name))),
    ...(await removeNames(joinPath(place.directory, NAMES.spare), () => true)),
  ];
}
