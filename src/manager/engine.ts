import type { Clock, IdSource } from "../contract/host.ts";
import type { SandboxStrategy } from "../contract/strategy.ts";
import type { Creation } from "../journal/creation-record.ts";
import type { PlanOwners } from "../journal/plan-owners.ts";
import type { PlanRuns } from "../journal/plan-runs.ts";
import type { SandboxStore } from "../journal/sandbox-store.ts";
import type { StateDirectory } from "../journal/state-directory.ts";
import type { TransactionLog } from "../journal/transaction-log.ts";
import type { CommitResult } from "../model/commit-result.ts";
import type { StrategyRegistry } from "../registry/strategy-registry.ts";
import type { Emit } from "./events.ts";

/** How long the engine waits and how much it keeps. */
export interface Limits {
  /** How long a call waits for the plan, or a commit for the resource. */
  readonly lockTimeoutMs: number;
  /** How many automatic checkpoints a sandbox keeps. */
  readonly automaticCheckpoints: number;
  /** How long a plan may be idle after its last owner has ended before it counts as abandoned. */
  readonly leaseMs: number;
}

/** Limits when nothing else was said. */
export const DEFAULT_LIMITS: Limits = {
  lockTimeoutMs: 30_000,
  automaticCheckpoints: 10,
  leaseMs: 24 * 60 * 60_000,
};

/** How long commits can be taken back, and how much room that may take. */
export interface UndoLimits {
  readonly retentionDays: number;
  /** For each device. */
  readonly maxBytes: number;
}

/** Counts the undo data of commits, and gives the oldest up when it is time. */
export interface UndoBudget {
  readonly limits: UndoLimits;
  /** Counts the undo data of a commit. */
  add(result: CommitResult): void;
  /** Gives up what is too old or too much, where that may have changed. What fails waits for the next time. */
  settle(engine: Engine): Promise<void>;
}

/** A sandbox whose `create` is still running. */
export type PendingCreation = Creation;

/** What every part of the manager works with: one state directory and the strategies of one registry. */
export interface Engine {
  readonly state: StateDirectory;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly limits: Limits;
  readonly store: SandboxStore;
  readonly log: TransactionLog;
  readonly owners: PlanOwners;
  readonly runs: PlanRuns;
  readonly undo: UndoBudget;
  readonly emit: Emit;
  readonly registry: StrategyRegistry;
  /** Whether private data may lie beside a resource inside a git work tree. */
  readonly allowParentArea: boolean;
  readonly pending: Set<PendingCreation>;
  /** Calls that are under way. */
  readonly running: Set<Promise<unknown>>;
}

/** A strategy with the name it is registered under: what stands inside a guard. */
export interface Guarded {
  readonly engine: Engine;
  readonly raw: SandboxStrategy;
  readonly name: string;
}

const insides = new WeakMap<SandboxStrategy, Guarded>();

/** Remembers what stands inside a guard. */
export function rememberGuarded(guard: SandboxStrategy, guarded: Guarded): void {
  insides.set(guard, guarded);
}

/**
 * The strategy behind a name together with its inside, for the engine's own use.
 * @throws StrategyNotFoundError, StrategyLoadError, StrategyValidationError as the registry does.
 */
export async function guardedOf(engine: Engine, name: string): Promise<Guarded> {
  const guard = await engine.registry.resolve(name);
  return insides.get(guard) ?? { engine, raw: guard, name };
}

/**
 * The strategy inside its guard, without status, locks or the check of a ref: for conformance tests, which have to call
 * the single phases of a commit. Everybody else works through the guard.
 */
export function unguarded(strategy: SandboxStrategy): SandboxStrategy {
  return insides.get(strategy)?.raw ?? strategy;
}

/** The present time as it is written everywhere. */
export function timestamp(engine: Engine): string {
  return engine.clock.now().toISOString();
}
