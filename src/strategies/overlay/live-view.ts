import { SandboxCreationError, SandboxError, describeThrown } from "../../errors/index.ts";
import { type BytePath, joinPath } from "../../model/byte-path.ts";
import type { OpenPlace, SandboxPlace } from "../../tree/workspace.ts";
import { type QuietOperation, busyError } from "./busy-error.ts";
import { copiedTree, makeCopiedView, removeCopiedView } from "./copy-view.ts";
import { foldCopiedView } from "./fold-copy.ts";
import { waitUntilQuiet } from "./live-lock.ts";
import {
  findMount,
  isMountPoint,
  mountFuse,
  mountKernel,
  verifyFuseMount,
  verifyKernelMount,
} from "./mounts.ts";
import { hasFuseNames, normaliseUpper } from "./normalise-upper.ts";
import { recordBases, recordFolderPaths } from "./record-bases.ts";
import { relinkAliases } from "./relink-aliases.ts";
import { NAMES, openLayers, withSpare } from "./sandbox-files.ts";
import { type OverlayState, type ViewKind, saveState } from "./state.ts";
import { unmountAt } from "./unmount.ts";

/** Tells listeners what happened. */
export type Emit = (name: string, data: { readonly [key: string]: string }) => void;

/** Makes and takes away the directory in which outside programs see a sandbox. */
export class LiveView {
  readonly #limitMs: number;
  readonly #emit: Emit;

  constructor(limitMs: number, emit: Emit) {
    this.#limitMs = limitMs;
    this.#emit = emit;
  }

  /** The directory that is live now; null when there is none and the layers themselves are the sandbox. */
  current(place: SandboxPlace, state: OverlayState): BytePath | null {
    if (state.view === null) return null;
    if (state.view === "copy") return copiedTree(place);
    const isLive = state.view === "kernel" ? isMountPoint(place) : findMount(place) !== undefined;
    return isLive ? joinPath(place.directory, NAMES.mountPoint) : null;
  }

  /** Makes the directory, or finds the one that is live. Idempotent. */
  async open(place: OpenPlace, state: OverlayState): Promise<BytePath> {
    const live = this.current(place, state);
    if (live !== null) {
      if (state.view === "kernel") verifyKernelMount(place, state);
      if (state.view === "fuse") verifyFuseMount(place);
      return live;
    }
    const quiet = await this.#settle(place, state);
    const kind = state.mode === "kernel" ? "kernel" : "fuse";
    try {
      return await this.#make(place, quiet, kind);
    } catch (cause) {
      if (cause instanceof SandboxError || state.mode !== "userns")
        throw failure(place, kind, cause);
      this.#emit("overlay.viewCopied", {
        sandboxId: place.sandboxId,
        reason: describeThrown(cause),
      });
      return this.#make(place, { ...quiet, isFuseUpper: false }, "copy");
    }
  }

  /**
   * Takes the directory away and brings everything that was done in it into the layers. Idempotent.
   * @throws the operation's own error with the failure as cause when it is in use; nothing was changed then.
   */
  async close(
    place: OpenPlace,
    state: OverlayState,
    operation: QuietOperation,
  ): Promise<OverlayState> {
    try {
      if (state.view === "copy") {
        const folded = await foldCopiedView(place, state);
        const saved = await saveState(place.directory, { ...folded, view: null });
        await removeCopiedView(place);
        return saved;
      }
      if (state.view !== null) await unmountAt(place.directory, NAMES.mountPoint, this.#limitMs);
      if (state.mode !== "kernel") await waitUntilQuiet(place.directory, this.#waitMs(state));
    } catch (cause) {
      throw busyError(place, operation, cause);
    }
    return this.#settle(place, state);
  }

  /** A command that runs inside is somebody's work and not waited for; a server that was told to end is. */
  #waitMs(state: OverlayState): number {
    return state.view === "fuse" ? this.#limitMs : 0;
  }

  /** Brings marks of fuse-overlayfs into the kernel's language; only while nothing is mounted. */
  async #settle(place: OpenPlace, state: OverlayState): Promise<OverlayState> {
    if (!state.isFuseUpper) return state;
    await withSpare(place, (spare) => {
      using stack = openLayers(place, state);
      relinkAliases(stack, spare);
      normaliseUpper(stack);
      recordBases(stack, BigInt(state.base.timeNs));
      recordFolderPaths(stack);
    });
    return saveState(place.directory, { ...state, isFuseUpper: false });
  }

  async #make(place: OpenPlace, state: OverlayState, view: ViewKind): Promise<BytePath> {
    if (view === "fuse") {
      using stack = openLayers(place, state);
      if (hasFuseNames(stack)) throw new Error("the sandbox has names that begin with .wh.");
    }
    const isFuseUpper = view === "fuse";
    const isKnown = state.view === view && state.isFuseUpper === isFuseUpper;
    if (view === "copy") {
      using stack = openLayers(place, state);
      await makeCopiedView(place, stack);
    }
    // Before the mount: whoever comes after a kill must know that there may be one.
    const next = isKnown
      ? state
      : await saveState(place.directory, { ...state, view, isFuseUpper });
    if (view === "kernel") await mountKernel(place, next, this.#limitMs);
    if (view === "fuse") await this.#mountFuse(place, next);
    this.#emit("overlay.viewOpened", { sandboxId: place.sandboxId, kind: view });
    return view === "copy" ? copiedTree(place) : joinPath(place.directory, NAMES.mountPoint);
  }

  async #mountFuse(place: OpenPlace, state: OverlayState): Promise<void> {
    try {
      await mountFuse(place, state, this.#limitMs);
    } catch (error) {
      await saveState(place.directory, { ...state, view: null, isFuseUpper: false });
      throw error;
    }
  }
}

function failure(place: OpenPlace, kind: ViewKind, cause: unknown): SandboxError {
  if (cause instanceof SandboxCreationError) return cause;
  return new SandboxCreationError(
    `The sandbox cannot be mounted (${kind}): ${describeThrown(cause)}`,
    {
      operation: "getPath",
      sandboxId: place.sandboxId,
      cause,
      hint: "`read`, `write` and `diff` need no mount; `coffer doctor` tells what this machine can do.",
      data: { stage: "mount", residue: [] },
    },
  );
}
