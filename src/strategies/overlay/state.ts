import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import {
  type RecordFormat,
  hasFields,
  readRecord,
  writeRecord,
} from "../../journal/record-file.ts";
import type { OrdinaryUser } from "../../tree/owners.ts";
import type { Identity } from "../../tree/tree-entry.ts";
import type { Dialect } from "./marks.ts";
import type { OverlayMode, TriedMode } from "./mode-names.ts";
import { withTextPath } from "./text-path.ts";

/** The identity of a real entry as it is kept on disk. */
export interface StoredIdentity {
  readonly type: Identity["type"];
  readonly ino: string;
  readonly size: number;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
}

/** What the sandbox takes for the unchanged real tree. */
export interface StoredBase {
  /** Entries with a later change time were changed by somebody after the sandbox was made. */
  readonly timeNs: string;
  /** Paths whose base was recorded anew after a commit was taken back; null: there was nothing. */
  readonly rebased: readonly (readonly [RelativePath, StoredIdentity | null])[];
}

/** A kept state of the sandbox: its layers, and the base they belong to. */
export interface StoredCheckpoint {
  readonly id: string;
  /** Frozen layers, the lowest first. */
  readonly layers: readonly string[];
  readonly base: StoredBase;
}

/** How a directory for outside programs was last made. */
export type ViewKind = "kernel" | "fuse" | "copy";

/** Everything that an overlay sandbox keeps besides its layers; replaced whole. */
export interface OverlayState {
  readonly mode: OverlayMode;
  readonly dialect: Dialect;
  readonly tried: readonly TriedMode[];
  /** Counts replacements of this record. */
  readonly generation: number;
  /** Number of the next layer. */
  readonly nextLayer: number;
  /** Frozen layers under the upper one, the lowest first. */
  readonly layers: readonly string[];
  readonly upper: string;
  /** Whether a layer with whiteouts for our own folders lies under all others. */
  readonly isMasked: boolean;
  /** The layers lie inside the resource: there is only the upper one, and checkpoints are copies of it. */
  readonly isNested: boolean;
  /** The real directory; the handle is empty where its file system hands out none. */
  readonly root: { readonly ino: string; readonly handle: string };
  readonly base: StoredBase;
  readonly checkpoints: readonly StoredCheckpoint[];
  /** Null: no such directory was ever made. Else one may be live, as always with the kernel's; the mount table tells. */
  readonly view: ViewKind | null;
  /** fuse-overlayfs may have written its own marks into the upper layer. */
  readonly isFuseUpper: boolean;
  /** The ordinary user who made the sandbox, with his groups at that time; root has none. */
  readonly user?: OrdinaryUser | null;
  /** fuse-overlayfs shows everything with the user's own group: else it could not change what has another. */
  readonly showsOwnGroup?: boolean;
}

/** The record of a sandbox in its folder; one without it is being made, or is gone. */
export const STATE_FILE = "state.json";

const FORMAT: RecordFormat<OverlayState> = {
  name: "overlay",
  version: 1,
  isData: (value): value is OverlayState =>
    hasFields(value, {
      mode: "string",
      dialect: "string",
      generation: "number",
      nextLayer: "number",
      layers: "object",
      upper: "string",
      base: "object",
      checkpoints: "object",
    }),
};

/**
 * The state of a sandbox; null when it has none.
 * @throws RecordDamagedError (`RECORD_DAMAGED`); nothing is guessed from a damaged record.
 */
export function loadState(directory: BytePath): Promise<OverlayState | null> {
  return withTextPath(directory, (path) => readRecord(`${path}/${STATE_FILE}`, FORMAT));
}

/** Replaces the state durably and gives it back: whoever looks finds the old one or the new. */
export async function saveState(directory: BytePath, state: OverlayState): Promise<OverlayState> {
  const next = { ...state, generation: state.generation + 1 };
  await withTextPath(directory, (path) => writeRecord(`${path}/${STATE_FILE}`, FORMAT, next));
  return next;
}

/** The form of an identity on disk. */
export function storeIdentity(identity: Identity): StoredIdentity {
  const { type, ino, size, mtimeNs, ctimeNs } = identity;
  return {
    type,
    ino: ino.toString(),
    size,
    mtimeNs: mtimeNs.toString(),
    ctimeNs: ctimeNs.toString(),
  };
}

/** The identity back from its form on disk. */
export function readIdentity(stored: StoredIdentity): Identity {
  return {
    type: stored.type,
    ino: BigInt(stored.ino),
    size: stored.size,
    mtimeNs: BigInt(stored.mtimeNs),
    ctimeNs: BigInt(stored.ctimeNs),
  };
}
