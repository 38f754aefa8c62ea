export { errnoHint } from "./errno-hint.ts";
export { findPassword, hideAllPasswords, hidePasswords } from "./passwords.ts";
export { SandboxError, describeThrown, errnoOf } from "./sandbox-error.ts";
export type { ErrorContext, ErrorInit, ErrorJson } from "./sandbox-error.ts";
export {
  CheckpointError,
  InsufficientSpaceError,
  OperationTimeoutError,
  PathEscapeError,
  PlanBusyError,
  SandboxCleanupError,
  SandboxCommitError,
  SandboxConflictError,
  SandboxCreationError,
  SandboxPathError,
  SandboxRollbackError,
  SandboxStateError,
} from "./sandbox-errors.ts";
export type { CommitFailure, ConflictDetail } from "./sandbox-errors.ts";
export {
  ConfigurationError,
  DatabaseError,
  DatabaseInUseError,
  PlatformUnsupportedError,
  RecordDamagedError,
  StrategyLoadError,
  StrategyNotFoundError,
  StrategyValidationError,
  UnsupportedStrategyError,
} from "./setup-errors.ts";
export type { ConfigurationProblem } from "./setup-errors.ts";
export { AtomicCommitError, AtomicityRefusedError } from "./plan-errors.ts";
