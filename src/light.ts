/**
 * The part of the public API that the command line calls. It loads no strategy by itself: those that a plan needs are
 * loaded when it is used, so that a command starts quickly.
 */
export { summarizeChanges } from "./contract/diff-view.ts";
export {
  DatabaseError,
  OperationTimeoutError,
  SandboxError,
  SandboxPathError,
  SandboxStateError,
  UnsupportedStrategyError,
} from "./errors/index.ts";
export { closestName } from "./model/closest-name.ts";
export { BUILT_IN_RESOURCE_TYPE_NAMES } from "./model/strategy-names.ts";
export { inspectMachine, openCofferdam } from "./open-cofferdam.ts";
