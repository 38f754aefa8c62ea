import type { RunResult, StrategyHost } from "../../contract/host.ts";
import type { CallOptions, ListedEntry, SandboxLayers } from "../../contract/strategy.ts";
import { SandboxCreationError } from "../../errors/index.ts";
import {
  type BytePath,
  type RelativePath,
  displayPath,
  isWithin,
  joinPath,
} from "../../model/byte-path.ts";
import type { DriftEntry } from "../../model/diff-view.ts";
import type { Json } from "../../model/sandbox-ref.ts";
import { mountsBelow } from "../../platform/mount-table.ts";
import { isErrno, mkdirAt } from "../../platform/native/index.ts";
import {
  describeForeign,
  findForeign,
  isForeign,
  listForeign,
} from "../../tree/foreign-entries.ts";
import { presentUser } from "../../tree/owners.ts";
import { removeTree } from "../../tree/remove-tree.ts";
import type { ChangeSet, TreeChange } from "../../tree/tree-change.ts";
import type { Identity, TreeEntry } from "../../tree/tree-entry.ts";
import type {
  BaseCheck,
  MadeWorkspace,
  OpenPlace,
  SandboxPlace,
  Workspace,
} from "../../tree/workspace.ts";
import { CopyWorkspace } from "../copy/copy-workspace.ts";
import { type QuietOperation } from "./busy-error.ts";
import { makeFolders, makeLayers } from "./create.ts";
import { forkCopied, forkLayers } from "./fork-layers.ts";
import { LayeredWorkspace } from "./layered-workspace.ts";
import { waitUntilQuiet } from "./live-lock.ts";
import { LiveView } from "./live-view.ts";
import { type ChosenMode, chooseInstead, chooseMode } from "./modes.ts";
import { OVERLAY_MODES, type OverlayMode } from "./mode-names.ts";
import { isNested } from "./mask.ts";
import { unmountAll } from "./mounts.ts";
import type { TrialSite } from "./trial.ts";
import type { InsideOptions } from "./run-inside.ts";
import { removeSandbox } from "./remove-sandbox.ts";
import { besideOf, layersOf, ownerOf, requireState, withFolder } from "./sandbox-files.ts";
import { loadState, saveState } from "./state.ts";
import { UnmountError, canonicalPath } from "./unmount.ts";

/** Settings of the strategy `overlay`. */
export interface OverlayOptions {
  /** Use this mode and no other; a resource's own `properties.mode` comes first. */
  readonly mode?: OverlayMode;
  /** How long a mount may take to come or to go. Default one minute. */
  readonly mountTimeoutMs?: number;
}

/** An unmount writes out what is unwritten, which takes a busy disk many seconds. */
const DEFAULT_TIMEOUT_MS = 60_000;
/** Where the copy lives when no overlay is possible. */
const COPY_FOLDER = "c";

/**
 * A workspace that is a stack of layers over the untouched resource. Making, checkpointing and throwing it away cost
 * the same for any size of the resource. Where no overlay can be mounted it is a copy instead, and says so.
 */
export class OverlayWorkspace implements Workspace {
  readonly #host: Pick<StrategyHost, "emit">;
  readonly #options: OverlayOptions;
  readonly #layered: LayeredWorkspace;
  readonly #copy = new CopyWorkspace("auto");

  constructor(host: Pick<StrategyHost, "emit">, options: OverlayOptions = {}) {
    this.#host = host;
    this.#options = options;
    this.#layered = new LayeredWorkspace(
      new LiveView(this.#limitMs, (name, data) => host.emit(name, data)),
    );
  }

  async create(place: SandboxPlace, options: CallOptions = {}): Promise<MadeWorkspace> {
    options.signal?.throwIfAborted();
    await makeFolders(place);
    const wanted = wantedMode(place, this.#options);
    const site = this.#site(place, wanted);
    let chosen = await chooseMode(site, wanted);
    options.signal?.throwIfAborted();
    let copied: MadeWorkspace["metadata"] = {};
    if (chosen.mode === "copy") {
      try {
        copied = await this.#createCopy(place, options);
      } catch (error) {
        // Nobody asked for it, and there may be something that can do most of it.
        if (wanted !== null || site.foreign === null || options.signal?.aborted === true)
          throw error;
        chosen = await chooseInstead(site, error);
        await withFolder(place.directory, (fd) => removeTree(fd, COPY_FOLDER));
      }
    }
    await saveState(place.directory, await makeLayers(place, chosen, site.showsOwnGroup));
    if (chosen.mode !== "kernel") this.#tell(place, chosen);
    return {
      metadata: {
        ...copied,
        mode: chosen.mode,
        reason: chosen.reason,
        tried: chosen.tried.map((one) => ({ ...one })),
        ...(site.foreign !== null && wanted === null && { foreign: describeForeign(site.foreign) }),
        ...otherMounts(place),
      },
    };
  }

  /** Finds the mode that a sandbox would use at a place, which is empty before and after. */
  async probe(place: SandboxPlace): Promise<ChosenMode> {
    await makeFolders(place);
    try {
      const wanted = wantedMode(place, this.#options);
      return await chooseMode(this.#site(place, wanted), wanted);
    } finally {
      await this.destroy(place);
    }
  }

  #site(place: SandboxPlace, wanted: OverlayMode | null): TrialSite {
    const { directory, root, exclude, only } = place;
    const mask = isNested(place) ? (exclude[0] ?? null) : null;
    const site = { directory, root, mask, timeoutMs: this.#limitMs };
    const user = presentUser();
    if (user === null) return { ...site, foreign: null, showsOwnGroup: false };
    // A single file is always shown through a directory of its own, in whatever mode.
    const foreign = only === null ? findForeign(root, exclude, user) : null;
    const isOdd = foreign !== null || (only !== null && isForeign(root, only, user));
    // Whoever asks for it may know what lies deeper.
    return { ...site, foreign, showsOwnGroup: isOdd || wanted === "fuse" };
  }

  async #createCopy(
    place: SandboxPlace,
    options: CallOptions,
  ): Promise<{ readonly [key: string]: Json }> {
    await withFolder(place.directory, (fd) => mkdirAt(fd, COPY_FOLDER, 0o700));
    const { metadata } = await this.#copy.create(copyPlace(place), options);
    return { ...metadata, copiedBy: metadata["mode"] ?? "copy" };
  }

  #tell(place: SandboxPlace, { mode, reason }: ChosenMode): void {
    const level = mode === "copy" ? "warning" : "info";
    this.#host.emit("overlay.modeChosen", { sandboxId: place.sandboxId, mode, reason }, level);
  }

  async changes(place: OpenPlace, options?: CallOptions): Promise<ChangeSet> {
    const [workspace, at] = await this.#of(place);
    return workspace.changes(at, options);
  }

  async hasChange(place: OpenPlace, counts: (change: TreeChange) => boolean): Promise<boolean> {
    const [workspace, at] = await this.#of(place);
    return workspace.hasChange === undefined
      ? (await workspace.changes(at)).changes.some(counts)
      : workspace.hasChange(at, counts);
  }

  async drift(place: OpenPlace, set: ChangeSet): Promise<readonly DriftEntry[]> {
    const [workspace, at] = await this.#of(place);
    return workspace.drift(at, set);
  }

  async borrowedFrom(place: OpenPlace): Promise<readonly BytePath[]> {
    const owners = (await requireState(place)).layers.flatMap((name) => ownerOf(name) ?? []);
    return [...new Set(owners)].map((owner) => layersOf(besideOf(place.directory, owner)));
  }

  async baseCheck(place: OpenPlace): Promise<BaseCheck> {
    const [workspace, at] = await this.#of(place);
    return workspace.baseCheck(at);
  }

  async read(place: OpenPlace, path: RelativePath): Promise<Buffer> {
    const [workspace, at] = await this.#of(place);
    return workspace.read(at, path);
  }

  async write(place: OpenPlace, path: RelativePath, content: Uint8Array): Promise<void> {
    const [workspace, at] = await this.#of(place);
    await workspace.write(at, path, content);
  }

  async stat(place: OpenPlace, path: RelativePath): Promise<TreeEntry | null> {
    const [workspace, at] = await this.#of(place);
    return workspace.stat(at, path);
  }

  async list(place: OpenPlace, path: RelativePath): Promise<readonly ListedEntry[]> {
    const [workspace, at] = await this.#of(place);
    return workspace.list(at, path);
  }

  async remove(place: OpenPlace, path: RelativePath): Promise<void> {
    const [workspace, at] = await this.#of(place);
    await workspace.remove(at, path);
  }

  async rename(place: OpenPlace, from: RelativePath, to: RelativePath): Promise<void> {
    const [workspace, at] = await this.#of(place);
    await workspace.rename(at, from, to);
  }

  async path(place: OpenPlace): Promise<BytePath> {
    const [workspace, at] = await this.#of(place);
    return workspace.path(at);
  }

  async quiesce(place: OpenPlace, operation: QuietOperation): Promise<void> {
    // A clean-up that was interrupted has removed the state already; what is mounted goes with the rest.
    if (operation === "cleanup" && (await loadState(place.directory)) === null) return;
    const [workspace, at] = await this.#of(place);
    await workspace.quiesce(at, operation);
  }

  async discard(place: OpenPlace): Promise<{ readonly leftovers: readonly string[] }> {
    const [workspace, at] = await this.#of(place);
    return workspace.discard(at);
  }

  async rebase(place: OpenPlace, base: ReadonlyMap<RelativePath, Identity | null>): Promise<void> {
    const [workspace, at] = await this.#of(place);
    await workspace.rebase(at, base);
  }

  async takeBack(place: OpenPlace, path: RelativePath, real: TreeEntry | null): Promise<void> {
    const [workspace, at] = await this.#of(place);
    await workspace.takeBack(at, path, real);
  }

  async acceptBase(...[place, base, whole]: Parameters<Workspace["acceptBase"]>): Promise<void> {
    const [workspace, at] = await this.#of(place);
    await workspace.acceptBase(at, base, whole);
  }

  async checkpoint(place: OpenPlace, checkpointId: string): Promise<void> {
    const [workspace, at] = await this.#of(place);
    await workspace.checkpoint(at, checkpointId);
  }

  async restore(place: OpenPlace, checkpointId: string): Promise<void> {
    const [workspace, at] = await this.#of(place);
    await workspace.restore(at, checkpointId);
  }

  async fork(
    from: OpenPlace,
    checkpointId: string,
    place: SandboxPlace,
    options: CallOptions = {},
  ): Promise<void> {
    options.signal?.throwIfAborted();
    const { mode } = await requireState(from);
    if (mode !== "copy") {
      await saveState(place.directory, await forkLayers(from, checkpointId, place));
      return;
    }
    const state = await forkCopied(from, place);
    await withFolder(place.directory, (fd) => mkdirAt(fd, COPY_FOLDER, 0o700));
    await this.#copy.fork(copyPlace(from), checkpointId, copyPlace(place), options);
    await saveState(place.directory, state);
  }

  async deleteCheckpoint(place: OpenPlace, checkpointId: string): Promise<void> {
    const [workspace, at] = await this.#of(place);
    await workspace.deleteCheckpoint(at, checkpointId);
  }

  /**
   * Runs a command in a user, mount and process namespace of its own, with the sandbox mounted there by the kernel.
   * @throws PlatformUnsupportedError (`PLATFORM_UNSUPPORTED`) in every mode but `userns`.
   */
  runInside(
    place: OpenPlace,
    argv: readonly string[],
    options?: InsideOptions,
  ): Promise<RunResult> {
    return this.#layered.runInside(place, argv, options);
  }

  /** The layers for a namespace of the caller's own; null in every mode that has a better way. */
  async beginLayers(place: OpenPlace): Promise<SandboxLayers | null> {
    return this.#layered.beginLayers(place);
  }

  /** A few paths of the resource that nobody can change in a user namespace; none in every other mode. */
  async unchangeable(place: OpenPlace): Promise<readonly string[]> {
    const { mode, user = presentUser() } = await requireState(place);
    if (mode !== "userns" || user === null) return [];
    return listForeign(place.root, place.exclude, user).map(({ path }) =>
      displayPath(joinPath(place.root, path)),
    );
  }

  /** Notes what the kernel without root does not. */
  async endLayers(place: OpenPlace): Promise<void> {
    await this.#layered.endLayers(place);
  }

  async destroy(place: SandboxPlace): Promise<readonly string[]> {
    try {
      await unmountAll(place.directory, this.#limitMs);
      await waitUntilQuiet(place.directory, this.#limitMs);
      return await removeSandbox(place.directory);
    } catch (error) {
      if (isErrno(error, "ENOENT")) return [];
      // Nothing is removed below a live mount, and nothing under the hands of whoever serves one.
      const where = error instanceof UnmountError ? error.mountPoint : place.directory;
      return [displayPath(where)];
    }
  }

  /** Who does the work for a sandbox, and where. */
  async #of(
    place: OpenPlace,
  ): Promise<readonly [Omit<Workspace, "create" | "fork" | "destroy">, OpenPlace]> {
    const { mode } = await requireState(place);
    return mode === "copy" ? [this.#copy, copyPlace(place)] : [this.#layered, place];
  }

  get #limitMs(): number {
    return this.#options.mountTimeoutMs ?? DEFAULT_TIMEOUT_MS;
  }
}

/** Mounts inside the resource: the kernel's overlays show empty folders in their place, and no commit touches them. */
function otherMounts(place: SandboxPlace): { readonly otherMounts?: readonly string[] } {
  const root = canonicalPath(place.root);
  const found = mountsBelow(root)
    .filter(({ mountPoint }) => mountPoint !== root)
    .map(({ mountPoint }) => mountPoint.slice(root.length + 1) as RelativePath)
    .filter((path) => !place.exclude.some((hidden) => isWithin(path, hidden)));
  return found.length === 0 ? {} : { otherMounts: found.map(displayPath).sort() };
}

function copyPlace<Place extends SandboxPlace>(place: Place): Place {
  return { ...place, directory: joinPath(place.directory, COPY_FOLDER) };
}

function wantedMode(place: SandboxPlace, options: OverlayOptions): OverlayMode | null {
  const wanted = place.resource.properties?.["mode"] ?? options.mode ?? null;
  if (wanted === null) return null;
  const known = OVERLAY_MODES.find((mode) => mode === wanted);
  if (known !== undefined) return known;
  throw new SandboxCreationError(`There is no overlay mode ${JSON.stringify(wanted)}`, {
    operation: "create",
    resourceId: place.resource.resourceId,
    hint: `Modes are ${OVERLAY_MODES.join(", ")}.`,
    data: { stage: "mode", residue: [] },
  });
}
