import type { StrategyCapabilities } from "../../contract/capabilities.ts";
import type { ProbeResult } from "../../contract/strategy.ts";
import { FileStrategy } from "../../tree/strategy/file-strategy.ts";
import { COPY_CAPABILITIES } from "../copy/capabilities.ts";
import { SnapshotWorkspace } from "./snapshot-workspace.ts";
import type { Snapshots } from "./snapshots.ts";

/**
 * For file systems with snapshots: workspaces and checkpoints are snapshots, and what differs is asked of the file
 * system. A subclass supplies four calls; diff, conflicts, publishing and undo are the engine's.
 */
export abstract class SnapshotStrategy extends FileStrategy {
  override readonly capabilities: StrategyCapabilities = {
    ...COPY_CAPABILITIES,
    checkpoints: "native",
    changeTracking: "exact",
  };
  #workspace: SnapshotWorkspace | undefined;

  /** The calls of the file system. */
  protected abstract readonly snapshots: Snapshots;

  protected override get workspace(): SnapshotWorkspace {
    this.#workspace ??= new SnapshotWorkspace(this.snapshots);
    return this.#workspace;
  }

  /** Whether the folder of a resource can be snapshotted. */
  async probe(location?: string): Promise<ProbeResult> {
    const refusal = location === undefined ? null : await this.snapshots.refusal(location);
    return refusal === null ? { works: true, mode: "snapshot" } : { works: false, ...refusal };
  }
}
