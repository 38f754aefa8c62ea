import type { CofferConfig } from "../config/config.ts";
import type { DeclaredCapabilities } from "../contract/capabilities.ts";
import type { ProbeResult } from "../contract/strategy.ts";
import { describeThrown, SandboxError } from "../errors/index.ts";
import type { ErrorJson } from "../errors/index.ts";
import { trialArea } from "../journal/trial-area.ts";
import type { Resource } from "../model/resource.ts";
import { hasPathLocation } from "../model/strategy-names.ts";
import { chooseStrategy } from "../registry/choose-strategy.ts";
import type { ChosenStrategy } from "../registry/choose-strategy.ts";
import { isSupported, matrixOf } from "../registry/resource-types.ts";
import type { StrategyDescription } from "../registry/strategy-entry.ts";
import type { Engine } from "./engine.ts";

/** One strategy, and what becomes of it at one place. */
export interface StrategyReport extends Pick<
  StrategyDescription,
  "name" | "origin" | "module" | "exportName"
> {
  /** With every default filled in; null when it could not be loaded. */
  readonly capabilities: DeclaredCapabilities | null;
  /** Whether it may be used for a resource of this type. */
  readonly fits: boolean;
  /** Whether it is the one that a sandbox of this resource would get. */
  readonly isChosen: boolean;
  /** What a trial at the place said; null when the strategy does not fit, has no trial, or could not be loaded. */
  readonly probe: ProbeResult | null;
  /** Why it cannot be used. */
  readonly error: ErrorJson | null;
}

/** Every strategy for a resource at one place. */
export interface StrategiesReport {
  /** Where it was looked. */
  readonly location: string;
  readonly resourceType: string;
  /** The strategy that a sandbox would get, and which setting says so. */
  readonly chosen: ChosenStrategy;
  /** Built-ins first, then those of the configuration. */
  readonly strategies: readonly StrategyReport[];
}

/** Tries every strategy for the resource at a path. Leaves nothing behind. */
export async function inspectStrategies(
  engine: Engine,
  config: CofferConfig,
  resource: Resource,
): Promise<StrategiesReport> {
  const { registry, state, allowParentArea: allowParent } = engine;
  const { location, type } = resource;
  const chosen = chooseStrategy(resource, config, registry);
  const row = matrixOf(config).get(type);
  // The trials use the area of the place; this gives it back when it was not there before.
  await using _area = hasPathLocation(type)
    ? await trialArea(location, { stateDirectory: state.path, allowParent })
    : null;
  const strategies: StrategyReport[] = [];
  for (const { name } of registry.list()) {
    const fits = row !== undefined && isSupported(row, name);
    strategies.push(
      await inspectStrategy(engine, name, fits ? location : null, name === chosen.name),
    );
  }
  return { location, resourceType: type, chosen, strategies };
}

async function inspectStrategy(
  { registry }: Engine,
  strategyName: string,
  location: string | null,
  isChosen: boolean,
): Promise<StrategyReport> {
  let probe: ProbeResult | null = null;
  let error: ErrorJson | null = null;
  try {
    const strategy = await registry.resolve(strategyName);
    if (location !== null) probe = (await strategy.probe?.(location)) ?? null;
  } catch (thrown) {
    if (thrown instanceof SandboxError) error = thrown.toJSON();
    else probe = { works: false, reason: `its trial failed: ${describeThrown(thrown)}` };
  }
  const { name, origin, module, exportName, capabilities } = registry.describe(strategyName);
  const source = module === undefined || exportName === undefined ? {} : { module, exportName };
  return { name, origin, ...source, capabilities, fits: location !== null, isChosen, probe, error };
}
