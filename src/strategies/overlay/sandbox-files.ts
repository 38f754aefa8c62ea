import { SandboxStateError } from "../../errors/index.ts";
import { type BytePath, displayPath, joinPath } from "../../model/byte-path.ts";
import { AT, OPEN, close, openAt } from "../../platform/native/index.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";
import { LayerStack, type StackParts } from "./layer-stack.ts";
import { SpareFolder } from "./spare-folder.ts";
import { type OverlayState, loadState } from "./state.ts";

/** Names in the folder of a sandbox; short, because a mount's options have one page of room. */
export const NAMES = {
  /** Layers, numbered; 0 is the one that masks our own folders. */
  layers: "l",
  work: "w",
  mountPoint: "m",
  /** Spare room for building entries. */
  spare: "t",
  /** A link to the real directory. */
  base: "b",
  /** Locked by whoever keeps a view alive that the mount table of this process does not show. */
  live: "live",
  /** The sandboxes whose layers this one uses. */
  lenders: "lenders.json",
} as const;

/** The layer with whiteouts for our own folders. */
export const MASK_LAYER = "0";

/** The sandbox that owns a layer of this name: `<owner>/<number>`; null for one of the sandbox's own. */
export function ownerOf(name: string): string | null {
  const at = name.indexOf("/");
  return at < 0 ? null : name.slice(0, at);
}

/** The folder of another sandbox in the same area. */
export function besideOf(directory: BytePath, sandbox: string): BytePath {
  return `${directory.slice(0, directory.lastIndexOf("/"))}/${sandbox}` as BytePath;
}

/** The folder with all layers of a sandbox's own. */
export function layersOf(directory: BytePath): BytePath {
  return joinPath(directory, NAMES.layers);
}

/** Absolute path of a layer. */
export function layerPath(directory: BytePath, name: string): BytePath {
  const owner = ownerOf(name);
  if (owner === null) return joinPath(layersOf(directory), name);
  return joinPath(layersOf(besideOf(directory, owner)), name.slice(owner.length + 1));
}

/** Path of a layer as seen from the folder of the sandbox. */
export function relativeLayer(name: string): string {
  const owner = ownerOf(name);
  if (owner === null) return `${NAMES.layers}/${name}`;
  return `../${owner}/${NAMES.layers}/${name.slice(owner.length + 1)}`;
}

/**
 * The state of a sandbox that must exist.
 * @throws SandboxStateError (`SANDBOX_STATE`) when there is none.
 */
export async function requireState(place: SandboxPlace): Promise<OverlayState> {
  const state = await loadState(place.directory);
  if (state !== null) return state;
  throw new SandboxStateError(`There is no sandbox in ${displayPath(place.directory)}`, {
    sandboxId: place.sandboxId,
    data: { status: "missing", attempted: "open", allowedFrom: [], reason: "unknownRef" },
  });
}

/** The layers as the state has them, the upper one on top; whoever opens them disposes of them. */
export function openLayers(place: SandboxPlace, state: OverlayState): LayerStack {
  const { dialect } = state;
  const frozen = state.layers
    .toReversed()
    .map((name) => ({ path: layerPath(place.directory, name), dialect, isFuse: false }));
  const upper = {
    path: layerPath(place.directory, state.upper),
    dialect,
    isFuse: state.isFuseUpper,
  };
  return new LayerStack({ ...partsOf(place, state), layers: [upper, ...frozen] });
}

/** The masking layer alone over the real tree; null when there is none. */
export function openMask(place: SandboxPlace, state: OverlayState): LayerStack | null {
  if (!state.isMasked) return null;
  const path = layerPath(place.directory, MASK_LAYER);
  const layers = [{ path, dialect: state.dialect, isFuse: false }];
  return new LayerStack({ ...partsOf(place, state), layers });
}

function partsOf(
  { root, exclude }: SandboxPlace,
  { user, mode, showsOwnGroup }: OverlayState,
): Omit<StackParts, "layers"> {
  return { root, exclude, user, losesGroups: mode === "fuse" && showsOwnGroup === true };
}

/** Runs with an open folder of the sandbox. */
export async function withFolder<T>(
  path: BytePath,
  work: (fd: number) => T | Promise<T>,
): Promise<T> {
  const fd = openAt(AT.workingDirectory, path, OPEN.readOnly | OPEN.directory | OPEN.noFollow);
  try {
    return await work(fd);
  } finally {
    close(fd);
  }
}

/** Runs with the spare folder of the sandbox. */
export function withSpare<T>(
  place: SandboxPlace,
  work: (spare: SpareFolder) => T | Promise<T>,
): Promise<T> {
  const path = joinPath(place.directory, NAMES.spare);
  return withFolder(path, (fd) => work(new SpareFolder(fd)));
}
