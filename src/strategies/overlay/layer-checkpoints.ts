import type { OpenPlace } from "../../tree/workspace.ts";
import { foldedState } from "./fold-copy.ts";
import {
  checkpointError,
  copyUpper,
  dropUnused,
  freezeUpper,
  requireCheckpoint,
  startOver,
} from "./layer-control.ts";
import { runAlone } from "./live-lock.ts";
import type { LiveView } from "./live-view.ts";
import { normaliseUpper } from "./normalise-upper.ts";
import { openLayers, requireState } from "./sandbox-files.ts";
import { type OverlayState, saveState } from "./state.ts";

/** Checkpoints as lists of frozen layers. */
export class LayerCheckpoints {
  readonly #live: LiveView;

  constructor(live: LiveView) {
    this.#live = live;
  }

  /** Keeps the present state: at constant cost, or by a copy of the upper layer while somebody uses it. */
  async make(place: OpenPlace, id: string): Promise<void> {
    const state = await foldedState(place);
    if (state.checkpoints.some((one) => one.id === id)) throw checkpointError(id, "duplicate");
    if (state.isNested) return this.#checkpointByCopy(place, id);
    const isMounted = state.view !== "copy" && this.#live.current(place, state) !== null;
    let quiet: OverlayState;
    try {
      quiet = isMounted ? await this.#live.close(place, state, "checkpoint") : state;
    } catch {
      await this.#checkpointByCopy(place, id);
      return;
    }
    const done = await runAlone(place.directory, () =>
      this.#checkpointByFreezing(place, quiet, id),
    );
    if (done === null) await this.#checkpointByCopy(place, id);
    else if (isMounted) await this.#live.open(place, done.result);
  }

  /** Brings a kept state back by one replacement of the record; other checkpoints stay. */
  async restore(place: OpenPlace, id: string): Promise<void> {
    const state = await requireState(place);
    const from = requireCheckpoint(state, id);
    const quiet = await this.#live.close(place, state, "rollback");
    await dropUnused(place, await startOver(place, quiet, from));
  }

  /** Drops a checkpoint and the layers that nobody else needs; one that is not there is fine. */
  async remove(place: OpenPlace, id: string): Promise<void> {
    const state = await requireState(place);
    const checkpoints = state.checkpoints.filter((one) => one.id !== id);
    if (checkpoints.length === state.checkpoints.length) return;
    await dropUnused(place, await saveState(place.directory, { ...state, checkpoints }));
  }

  /** Nobody uses the layers: the upper one becomes part of the checkpoint. */
  async #checkpointByFreezing(
    place: OpenPlace,
    state: OverlayState,
    id: string,
  ): Promise<OverlayState> {
    const frozen = await freezeUpper(place, state);
    const { layers, base } = frozen;
    const kept = await saveState(place.directory, {
      ...frozen,
      checkpoints: [...frozen.checkpoints, { id, layers, base }],
    });
    await dropUnused(place, kept);
    return kept;
  }

  /** Somebody works in the mount and will not leave: what is there now is copied, which costs what changed. */
  async #checkpointByCopy(place: OpenPlace, id: string): Promise<void> {
    const state = await requireState(place);
    const layer = await copyUpper(place, state);
    const layers = [...state.layers, layer];
    if (state.isFuseUpper) {
      using stack = openLayers(place, { ...state, layers: state.layers, upper: layer });
      normaliseUpper(stack);
    }
    await saveState(place.directory, {
      ...state,
      nextLayer: state.nextLayer + 1,
      checkpoints: [...state.checkpoints, { id, layers, base: state.base }],
    });
  }
}
