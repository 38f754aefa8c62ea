import type { StrategyCapabilities } from "../../contract/capabilities.ts";
import type { StrategyHost } from "../../contract/host.ts";
import { FileStrategy, type FileStrategyOptions } from "../../tree/strategy/file-strategy.ts";
import { type OverlayOptions, OverlayWorkspace } from "./workspace.ts";

/** A stack of layers over the untouched resource: constant cost to make, checkpoint and throw away. */
export class OverlayStrategy extends FileStrategy {
  override readonly capabilities: StrategyCapabilities = {
    isolation: "full",
    undoCommit: true,
    prepare: true,
    path: true,
    pathCalls: true,
    checkpoints: "native",
    changeTracking: "exact",
  };
  protected override readonly workspace: OverlayWorkspace;

  constructor(host: StrategyHost, options: FileStrategyOptions & OverlayOptions = {}) {
    super(host, options);
    this.workspace = new OverlayWorkspace(host, options);
  }
}
