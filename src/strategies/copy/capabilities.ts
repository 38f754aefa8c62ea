import type { StrategyCapabilities } from "../../contract/capabilities.ts";

/** What both copy strategies promise. */
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
