import type { CofferConfig } from "../config/config.ts";
import { defaultConfig } from "../config/config.ts";
import { loadConfig, loadNearestConfig } from "../config/load-config.ts";
import type { Clock, IdSource, SandboxEvent, StrategyClass } from "../contract/host.ts";
import { PlanRuns } from "../journal/plan-runs.ts";
import { PlanOwners } from "../journal/plan-owners.ts";
import { SandboxStore } from "../journal/sandbox-store.ts";
import { defaultStateDirectory, openStateDirectory } from "../journal/state-directory.ts";
import { TransactionLog } from "../journal/transaction-log.ts";
import { systemClock } from "../platform/clock.ts";
import { createIdSource } from "../platform/ids.ts";
import { checkNames } from "../registry/check-names.ts";
import { loadCustomStrategies, pluginAccessOf } from "../registry/load-custom-strategies.ts";
import { PluginLoader } from "../registry/plugin-loader.ts";
import { type BuiltInTable, StrategyRegistry } from "../registry/strategy-registry.ts";
import { Cofferdam } from "./cofferdam.ts";
import { DEFAULT_LIMITS, type Engine, type Limits } from "./engine.ts";
import { createEmit } from "./events.ts";
import { createHost } from "./host.ts";
import { guardStrategy } from "./lifecycle.ts";
import { findInterrupted, recover } from "./recover.ts";
import { sweepLeftovers } from "./sweep-leftovers.ts";
import { UndoRetention } from "./undo-retention.ts";

/** Options of `openCofferdam`. */
export interface CofferdamOptions {
  /** Where everything durable lives; the configuration's, else the user's state home, unless given. */
  readonly stateDirectory?: string;
  /** A configuration file; `false` for none. The nearest one to the working directory unless given. */
  readonly config?: string | false;
  /** Strategies to register before anything is recovered. */
  readonly strategies?: Readonly<Record<string, StrategyClass>>;
  /** `auto` recovers interrupted work first, `report` only tells of it. Default `auto`. */
  readonly recover?: "auto" | "report";
  /** Hears everything that happens; what it throws stops nothing. */
  readonly onEvent?: (event: SandboxEvent) => void;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly limits?: Partial<Limits>;
  /** Let private data lie beside a resource inside a git work tree when no other place will do. */
  readonly allowParentArea?: boolean;
}

/** What only the outermost edge knows. */
export interface Surroundings {
  readonly builtIns: BuiltInTable;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly workingDirectory: string;
}

/** Opens the sandboxes of a state directory: configuration, strategies, then recovery. */
export async function openWith(
  options: CofferdamOptions,
  surroundings: Surroundings,
): Promise<Cofferdam> {
  const config = await configOf(options.config, surroundings.workingDirectory);
  const engine = await createEngine(options, config, surroundings);
  for (const [name, strategy] of Object.entries(options.strategies ?? {})) {
    await engine.registry.register(name, strategy);
  }
  const strategies = await loadCustomStrategies(config, engine.registry);
  checkNames(config, engine.registry);
  const interrupted = findInterrupted(engine);
  const { transactions, sandboxes } = interrupted;
  const isClean = transactions.length + sandboxes.length === 0;
  if (!isClean) {
    const data = { transactions: transactions.length, sandboxes: sandboxes.length };
    engine.emit("work.interrupted", data, "warning");
  }
  const isWanted = options.recover !== "report";
  if (isWanted && isClean) await sweepLeftovers(engine);
  const recovery = isWanted && !isClean ? await recover(engine) : null;
  if (isWanted) await engine.undo.settle(engine);
  return new Cofferdam(engine, { config, strategies, interrupted, recovery });
}

async function createEngine(
  options: CofferdamOptions,
  config: CofferConfig,
  surroundings: Surroundings,
): Promise<Engine> {
  const { environment, home, builtIns } = surroundings;
  const usual = config.state.directory ?? defaultStateDirectory(environment, home);
  const state = await openStateDirectory(options.stateDirectory ?? usual);
  const clock = options.clock ?? systemClock;
  const ids = options.ids ?? createIdSource(clock);
  const engine: Engine = {
    state,
    clock,
    ids,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    store: new SandboxStore(state.path),
    log: new TransactionLog(state.path),
    undo: new UndoRetention(config.undo),
    owners: new PlanOwners(state.path, ids.next()),
    runs: new PlanRuns(state.path),
    emit: createEmit(clock, options.onEvent),
    allowParentArea: options.allowParentArea ?? false,
    pending: new Set(),
    running: new Set(),
    registry: new StrategyRegistry({
      builtIns: withSettings(builtIns, config),
      plugins: new PluginLoader(pluginAccessOf(config)),
      hostFor: (name) => createHost(engine, name, config.connections),
      wrap: (raw, name) => guardStrategy(raw, name, engine),
    }),
  };
  return engine;
}

/** Hands the configuration's rules to the built-in strategies, as options are handed to custom ones. */
function withSettings(builtIns: BuiltInTable, config: CofferConfig): BuiltInTable {
  const { publish, limits } = config;
  const { exclude, outwardLinks, specialBits } = publish;
  const { warnBytes } = limits;
  const settings = { exclude, policy: { outwardLinks, specialBits }, warnBytes };
  return Object.fromEntries(
    Object.entries(builtIns).map(([name, load]) => [
      name,
      async () => {
        const BuiltIn = await load();
        return class extends BuiltIn {
          constructor(...[host]: ConstructorParameters<StrategyClass>) {
            super(host, settings);
          }
        };
      },
    ]),
  );
}

/** The configuration that an option means. */
export async function configOf(
  config: string | false | undefined,
  folder: string,
): Promise<CofferConfig> {
  if (config === false) return defaultConfig(folder);
  return config === undefined ? loadNearestConfig(folder) : loadConfig(config);
}
