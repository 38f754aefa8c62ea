import type { RunResult } from "../../contract/host.ts";
import type { ListedEntry, SandboxLayers } from "../../contract/strategy.ts";
import { PlatformUnsupportedError } from "../../errors/index.ts";
import { type BytePath, type RelativePath, displayPath, joinPath } from "../../model/byte-path.ts";
import type { DriftEntry } from "../../model/diff-view.ts";
import {
  assertBeneath,
  findBeneath,
  listBeneath,
  readBeneath,
  removeBeneath,
  renameBeneath,
  statBeneath,
  typed,
  writeBeneath,
} from "../../tree/beneath.ts";
import { presentUser, withRealOwners } from "../../tree/owners.ts";
import type { ChangeSet, TreeChange } from "../../tree/tree-change.ts";
import type { Identity, TreeEntry } from "../../tree/tree-entry.ts";
import { runTask } from "../../tree/threads/pool.ts";
import type { BaseCheck, OpenPlace, Workspace } from "../../tree/workspace.ts";
import { OverlayBaseCheck } from "./base-check.ts";
import { type QuietOperation, busyError } from "./busy-error.ts";
import { type ChangeScope, collectChanges, collectInTurns, hasChange } from "./changes.ts";
import { foldedState } from "./fold-copy.ts";
import { LayerCheckpoints } from "./layer-checkpoints.ts";
import { dropUnused, startOver } from "./layer-control.ts";
import { LayerEditor } from "./layer-editor.ts";
import type { LayerStack } from "./layer-stack.ts";
import { runAlone } from "./live-lock.ts";
import type { LiveView } from "./live-view.ts";
import { writeMounted } from "./mounted-calls.ts";
import { Origins } from "./origins.ts";
import { recordBases } from "./record-bases.ts";
import { type InsideOptions, insideOptions, runInNamespace } from "./run-inside.ts";
import { openLayers, openMask, requireState, withSpare } from "./sandbox-files.ts";
import { type OverlayState, type StoredBase, saveState, storeIdentity } from "./state.ts";
import { takeBack } from "./take-back.ts";
import { listView, readFromView, statInView } from "./view.ts";

/** What a workspace made of layers does once it exists. */
export class LayeredWorkspace implements Omit<Workspace, "create" | "fork" | "destroy"> {
  readonly #live: LiveView;
  readonly #checkpoints: LayerCheckpoints;

  constructor(live: LiveView) {
    this.#live = live;
    this.#checkpoints = new LayerCheckpoints(live);
  }

  async changes(place: OpenPlace): Promise<ChangeSet> {
    const state = await foldedState(place);
    using stack = openLayers(place, state);
    const { changes, skipped } = await collectInTurns(stack, this.#scope(place, state));
    return { changes, skipped };
  }

  async hasChange(place: OpenPlace, counts: (change: TreeChange) => boolean): Promise<boolean> {
    const state = await foldedState(place);
    using stack = openLayers(place, state);
    return hasChange(stack, this.#scope(place, state), counts);
  }

  async drift(place: OpenPlace, set: ChangeSet): Promise<readonly DriftEntry[]> {
    const state = await requireState(place);
    return runTask("findDrift", {
      root: place.root,
      only: place.only,
      exclude: place.exclude,
      touched: set.changes.map(({ path }) => path),
      base: { sinceNs: BigInt(state.base.timeNs) },
    });
  }

  async baseCheck(place: OpenPlace): Promise<BaseCheck> {
    const state = await requireState(place);
    let origins: Origins | undefined;
    return new OverlayBaseCheck({
      state,
      openStack: () => openLayers(place, state),
      openMask: () => openMask(place, state),
      origins: () => {
        using stack = openLayers(place, state);
        origins ??= new Origins(stack, collectChanges(stack, this.#scope(place, state)).touched);
        return origins;
      },
    });
  }

  read(place: OpenPlace, path: RelativePath): Promise<Buffer> {
    return this.#look(place, path, readBeneath, readFromView);
  }

  async stat(place: OpenPlace, path: RelativePath): Promise<TreeEntry | null> {
    const { user = presentUser(), showsOwnGroup } = await requireState(place);
    const entry =
      showsOwnGroup === true
        ? await this.#statInLayers(place, path)
        : await this.#look(place, path, statBeneath, statInView);
    const real = entry === null || user === null ? null : findBeneath(place.root, path);
    return entry === null || real?.type !== entry.type ? entry : withRealOwners(entry, real, user);
  }

  list(place: OpenPlace, path: RelativePath): Promise<readonly ListedEntry[]> {
    return this.#look(place, path, listBeneath, listView);
  }

  async write(place: OpenPlace, path: RelativePath, content: Uint8Array): Promise<void> {
    const { showsOwnGroup } = await requireState(place);
    const known = showsOwnGroup === true ? await this.#statInLayers(place, path) : null;
    await this.#edit(
      place,
      path,
      (root, { view }) =>
        view === "copy"
          ? writeBeneath(root, path, content, place.directory)
          : writeMounted(root, path, content, known),
      (editor) => editor.write(path, content),
    );
  }

  async remove(place: OpenPlace, path: RelativePath): Promise<void> {
    await this.#edit(
      place,
      path,
      (root) => removeBeneath(root, path),
      (editor) => editor.remove(path),
    );
  }

  async rename(place: OpenPlace, from: RelativePath, to: RelativePath): Promise<void> {
    await this.#edit(
      place,
      from,
      (root) => renameBeneath(root, from, to),
      (editor) => editor.rename(from, to),
    );
  }

  async path(place: OpenPlace): Promise<BytePath> {
    const root = await this.#live.open(place, await requireState(place));
    if (place.only === null) return root;
    assertBeneath(root, place.only as unknown as RelativePath);
    return joinPath(root, place.only);
  }

  async quiesce(place: OpenPlace, operation: QuietOperation): Promise<void> {
    await this.#live.close(place, await requireState(place), operation);
  }

  async discard(place: OpenPlace): Promise<{ readonly leftovers: readonly string[] }> {
    const quiet = await this.#live.close(place, await requireState(place), "rollback");
    const state = await startOver(place, quiet, null);
    return { leftovers: await dropUnused(place, state) };
  }

  async rebase(place: OpenPlace, base: ReadonlyMap<RelativePath, Identity | null>): Promise<void> {
    const state = await requireState(place);
    // Checkpoints start from the same real entries, which the undo has put back under new change times.
    const checkpoints = state.checkpoints.map((one) => ({
      ...one,
      base: withRebased(one.base, base),
    }));
    await saveState(place.directory, {
      ...state,
      base: withRebased(state.base, base),
      checkpoints,
    });
  }

  async takeBack(place: OpenPlace, path: RelativePath, real: TreeEntry | null): Promise<void> {
    await this.#editLayers(place, path, await requireState(place), (stack, spare, mayRedirect) =>
      takeBack({ stack, spare, mayRedirect }, path, real),
    );
  }

  async acceptBase(
    place: OpenPlace,
    base: ReadonlyMap<RelativePath, TreeEntry | null>,
  ): Promise<void> {
    const state = await requireState(place);
    await saveState(place.directory, { ...state, base: withRebased(state.base, base) });
  }

  checkpoint(place: OpenPlace, id: string): Promise<void> {
    return this.#checkpoints.make(place, id);
  }

  restore(place: OpenPlace, id: string): Promise<void> {
    return this.#checkpoints.restore(place, id);
  }

  deleteCheckpoint(place: OpenPlace, id: string): Promise<void> {
    return this.#checkpoints.remove(place, id);
  }

  /** Runs a command on the layers in namespaces of its own; only in the mode without root. */
  async runInside(
    place: OpenPlace,
    argv: readonly string[],
    options: InsideOptions = {},
  ): Promise<RunResult> {
    const state = await this.#live.close(place, await requireState(place), "checkpoint");
    if (state.mode !== "userns") {
      throw new PlatformUnsupportedError(
        `A sandbox in mode ${state.mode} has no namespace of its own`,
        {
          data: { what: "runInside", reason: `mode ${state.mode}` },
          hint: "Use the directory that `getPath` gives.",
        },
      );
    }
    try {
      return await runInNamespace(place, state, argv, options);
    } finally {
      using stack = openLayers(place, state);
      recordBases(stack, BigInt(state.base.timeNs));
    }
  }

  /** The layers for a namespace of the caller's own; null unless that is how they are mounted. */
  async beginLayers(place: OpenPlace): Promise<SandboxLayers | null> {
    const found = await requireState(place);
    if (found.mode !== "userns" || place.only !== null) return null;
    const state = await this.#live.close(place, found, "checkpoint");
    return { folder: displayPath(place.directory), options: insideOptions(state) };
  }

  /** Notes which real entries the new ones stand for. */
  async endLayers(place: OpenPlace): Promise<void> {
    const state = await requireState(place);
    using stack = openLayers(place, state);
    recordBases(stack, BigInt(state.base.timeNs));
  }

  #scope(place: OpenPlace, state: OverlayState): ChangeScope {
    return {
      only: place.only,
      exclude: place.exclude,
      mayMove: this.#live.current(place, state) === null,
      baseTimeNs: BigInt(state.base.timeNs),
    };
  }

  /** Where a mounted view hides the groups, the layers below it tell them. */
  async #statInLayers(place: OpenPlace, path: RelativePath): Promise<TreeEntry | null> {
    using stack = openLayers(place, await foldedState(place));
    return typed(place.root, path, () => statInView(stack, path));
  }

  /** Reads through the live view where there is one, else from the layers. */
  async #look<T>(
    place: OpenPlace,
    path: RelativePath,
    inDirectory: (root: BytePath, path: RelativePath) => T,
    inLayers: (stack: LayerStack, path: RelativePath) => T,
  ): Promise<T> {
    const state = await requireState(place);
    const live = this.#live.current(place, state);
    if (live !== null) return inDirectory(live, path);
    using stack = openLayers(place, state);
    return typed(place.root, path, () => inLayers(stack, path));
  }

  /** Changes the live view where there is one: nothing may change a layer below a live mount. */
  async #edit(
    place: OpenPlace,
    path: RelativePath,
    inDirectory: (root: BytePath, state: OverlayState) => void,
    inLayers: (editor: LayerEditor) => void,
  ): Promise<void> {
    const state = await requireState(place);
    const live = this.#live.current(place, state);
    if (live !== null) return inDirectory(live, state);
    await this.#editLayers(place, path, state, (...parts) => inLayers(new LayerEditor(...parts)));
  }

  /** Changes the layers while nobody has them mounted. */
  async #editLayers(
    place: OpenPlace,
    path: RelativePath,
    state: OverlayState,
    edit: (...parts: ConstructorParameters<typeof LayerEditor>) => void,
  ): Promise<void> {
    const done = await runAlone(place.directory, () =>
      withSpare(place, (spare) => {
        using stack = openLayers(place, state);
        typed(place.root, path, () => edit(stack, spare, state.mode === "kernel"));
      }),
    );
    if (done === null) throw busyError(place, "checkpoint", new Error("a command runs inside"));
  }
}

/** The base with other real entries for these paths. */
function withRebased(
  stored: StoredBase,
  base: ReadonlyMap<RelativePath, Identity | null>,
): StoredBase {
  const known = new Map(stored.rebased);
  for (const [path, identity] of base) known.set(path, identity && storeIdentity(identity));
  return { ...stored, rebased: [...known] };
}
