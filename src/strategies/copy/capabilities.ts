import type { StrategyCapabilities } from "../../contract/capabilities.ts";

/** What strategies promise whose workspace is a whole directory of its own. */
export const COPY_CAPABILITIES: StrategyCapabilities = {
  isolation: "full",
  undoCommit: true,
  prepare: true,
  path: true,
  pathCalls: true,
  checkpoints: "emulated",
  forks: true,
  drops: true,
  resolves: true,
  changeTracking: "scan",
};
