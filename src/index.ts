export { inspectMachine, openCofferdam } from "./open-cofferdam.ts";
export { Cofferdam } from "./manager/cofferdam.ts";
export type {
  CreateOptions,
  FinishedTransaction,
  Opening,
  PlanResource,
} from "./manager/cofferdam.ts";
export type { CofferdamOptions } from "./manager/open.ts";
export { Sandbox } from "./manager/bound-sandbox.ts";
export { Plan } from "./manager/plan/plan.ts";
export type { PlanDescription, PlanDiff } from "./manager/plan/plan.ts";
export type { PlanCheckpointDescription } from "./manager/checkpoints/checkpoint-plan.ts";
export type { Enclosed, PlanRunOptions, PlanRunResult } from "./manager/plan/run-in-plan.ts";
export type { CommandStream } from "./exec/run-command.ts";
export type { Outside, OutsideChange, OutsideReport } from "./exec/outside.ts";
export type { PlanCommitOptions } from "./manager/plan/commit-plan.ts";
export type { PlanSize } from "./manager/plan/measure-plan.ts";
export type { ForkOptions } from "./manager/plan/fork-plan.ts";
export type { Blocker, PlanPromise } from "./manager/plan/plan-promise.ts";
export type {
  AbandonedOptions,
  AbandonedReport,
  SparedBecause,
} from "./manager/plan/cleanup-abandoned.ts";
export type { PlanReport, PlanUndoPreview } from "./manager/plan/rollback-plan.ts";
export type { CheckpointDescription, SandboxDescription } from "./manager/describe-sandbox.ts";
export { unguarded } from "./manager/engine.ts";
export type { Limits, UndoLimits } from "./manager/engine.ts";
export type { DroppedUndo, PruneReport } from "./manager/undo-retention.ts";
export { EVENT_CHANNEL } from "./manager/events.ts";
export type {
  AreaReport,
  InspectOptions,
  MachineReport,
  StateReport,
} from "./manager/inspect-machine.ts";
export type { GitReport } from "./manager/inspect-git.ts";
export type { StrategiesReport, StrategyReport } from "./manager/inspect-strategies.ts";
export type { InterruptedTransaction } from "./manager/interrupted-transactions.ts";
export type {
  InterruptedWork,
  RecoveredSandbox,
  RecoveredTransaction,
  RecoveryReport,
} from "./manager/recover.ts";

export {
  AtomicCommitError,
  AtomicityRefusedError,
  CheckpointError,
  ConfigurationError,
  DatabaseError,
  DatabaseInUseError,
  InsufficientSpaceError,
  OperationTimeoutError,
  PathEscapeError,
  PlanBusyError,
  PlatformUnsupportedError,
  RecordDamagedError,
  SandboxCleanupError,
  SandboxCommitError,
  SandboxConflictError,
  SandboxCreationError,
  SandboxError,
  SandboxPathError,
  SandboxRollbackError,
  SandboxStateError,
  StrategyLoadError,
  StrategyNotFoundError,
  StrategyValidationError,
  UnsupportedStrategyError,
} from "./errors/index.ts";
export type {
  CommitFailure,
  ConfigurationProblem,
  ConflictDetail,
  ErrorContext,
  ErrorInit,
  ErrorJson,
} from "./errors/index.ts";

export { closestName } from "./model/closest-name.ts";
export { CHANGE_KINDS } from "./model/change.ts";
export type {
  Change,
  ChangeKind,
  DiffEntry,
  EntryState,
  EntryType,
  SkippedEntry,
} from "./model/change.ts";
export type { PathInput } from "./model/byte-path.ts";
export type {
  CommitReport,
  FailedRollback,
  PlanAtomicity,
  PlanOutcome,
} from "./model/commit-report.ts";
export type { CommitResult, ShelvedEdit } from "./model/commit-result.ts";
export type { UndoPreview } from "./model/undo-preview.ts";
export type { Conflict, ConflictReason } from "./model/conflict.ts";
export type { DiffSummary, DiffView, DriftEntry } from "./model/diff-view.ts";
export type { Resource, ResourceType, StrategyOrigin } from "./model/resource.ts";
export { REF_SCHEMA_VERSION } from "./model/sandbox-ref.ts";
export type { Json, SandboxRef } from "./model/sandbox-ref.ts";
export {
  ALLOWED_FROM,
  SANDBOX_STATUSES,
  TRANSITIONS,
  isAllowed,
  isTransition,
  renderStateDiagram,
} from "./model/status.ts";
export type { SandboxOperation, SandboxStatus, Transition } from "./model/status.ts";
export {
  BUILT_IN_RESOURCE_TYPE_NAMES,
  BUILT_IN_STRATEGY_NAMES,
  DEFAULT_STRATEGIES,
  STRATEGY_FITS,
} from "./model/strategy-names.ts";
export type { BuiltInResourceTypeName, BuiltInStrategyName } from "./model/strategy-names.ts";
export type { StrategySpecifier } from "./model/strategy-specifier.ts";

export { withDefaults } from "./contract/capabilities.ts";
export type {
  CommandRequest,
  EndedCommand,
  HostCommand,
  ShownPlace,
} from "./contract/enclosed-command.ts";
export type { DeclaredCapabilities, StrategyCapabilities } from "./contract/capabilities.ts";
export { METHODS_OF_CAPABILITY } from "./contract/check-capabilities.ts";
export {
  createDiffView,
  diffViewOf,
  digestChanges,
  summarizeChanges,
} from "./contract/diff-view.ts";
export {
  changeOf,
  commitResultOf,
  compareStates,
  isSameState,
  reverseChanges,
} from "./contract/compare-states.ts";
export type { CommitFacts } from "./contract/compare-states.ts";
export type { DiffViewInit } from "./contract/diff-view.ts";
export type {
  Clock,
  ConnectionSetting,
  IdSource,
  RunOptions,
  RunResult,
  SandboxEvent,
  StorageArea,
  StrategyClass,
  StrategyHost,
} from "./contract/host.ts";
export { REQUIRED_METHODS } from "./contract/strategy.ts";
export type {
  CallOptions,
  CheckpointOptions,
  CleanupOptions,
  CommitOptions,
  DiffOptions,
  HasChangesOptions,
  ListedEntry,
  ProbeResult,
  RemovalOptions,
  PublishPolicy,
  SandboxAddress,
  SandboxCopy,
  SandboxLayers,
  SandboxStrategy,
  TransactionPart,
} from "./contract/strategy.ts";
export { validateStrategy } from "./contract/validate.ts";

export type { CofferConfig } from "./config/config.ts";
export { loadConfig, loadNearestConfig } from "./config/load-config.ts";
export { chooseStrategy } from "./registry/choose-strategy.ts";
export type { ChosenStrategy } from "./registry/choose-strategy.ts";
export type { FailedStrategy, StartUpReport } from "./registry/load-custom-strategies.ts";
export { matrixOf } from "./registry/resource-types.ts";
export type { MatrixRow } from "./registry/resource-types.ts";
export type { StrategyDescription } from "./registry/strategy-entry.ts";
export { StrategyRegistry } from "./registry/strategy-registry.ts";
export type { RegisterOptions } from "./registry/strategy-registry.ts";

export { fileIn, withFile } from "./tree/toolkit/edit-state.ts";
export { findConflicts } from "./tree/toolkit/find-conflicts.ts";
export { publishChanges, unpublishChanges } from "./tree/toolkit/publish-changes.ts";
export type { PublishPlace } from "./tree/toolkit/publish-changes.ts";
export { loadStates, readContent, saveContent, saveStates } from "./tree/toolkit/saved-states.ts";
export type { TreeStates } from "./tree/toolkit/saved-states.ts";
export { readEntryState, readTreeState } from "./tree/toolkit/tree-state.ts";
export type { TreeState } from "./tree/toolkit/tree-state.ts";
export { CopyOnWriteStrategy } from "./strategies/copy_on_write/strategy.ts";
export { FilesystemCopyStrategy } from "./strategies/filesystem_copy/strategy.ts";
export { GitWorktreeStrategy } from "./strategies/git_worktree/strategy.ts";
export { NoneStrategy } from "./strategies/none/strategy.ts";
export { OverlayStrategy } from "./strategies/overlay/strategy.ts";
export { SnapshotStrategy } from "./strategies/snapshot/strategy.ts";
export type { Refusal, Snapshots } from "./strategies/snapshot/snapshots.ts";
export type { DatabaseClones } from "./strategies/transaction_rollback/clones.ts";
export { TransactionRollbackStrategy } from "./strategies/transaction_rollback/strategy.ts";

export type { KnownArea } from "./journal/area-list.ts";
export type { Ability } from "./platform/ability.ts";
