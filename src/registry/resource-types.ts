import type { CofferConfig, ResourceTypeSetting } from "../config/config.ts";
import type { ResourceType } from "../model/resource.ts";
import {
  BUILT_IN_RESOURCE_TYPE_NAMES,
  BUILT_IN_STRATEGY_NAMES,
  type BuiltInStrategyName,
  DEFAULT_STRATEGIES,
  isBuiltInResourceTypeName,
  isBuiltInStrategyName,
  STRATEGY_FITS,
} from "../model/strategy-names.ts";

/** A row of the compatibility matrix, after the configuration. */
export interface MatrixRow extends ResourceType {
  readonly origin: "built-in" | "custom";
  /** Whether strategies that are not in the row are allowed when they are custom ones. */
  readonly isOpen: boolean;
  /** The strategy that the configuration gives this type; null when it says nothing. */
  readonly configured: string | null;
}

/**
 * Which strategies each resource type supports. Built-in strategies must stand in the row of the type. A custom
 * strategy is its author's claim to fit, so it is allowed for every type, unless the configuration spells out
 * `supported_strategies` for that type, which then is the whole row. A type's `sandbox_strategy` is always in its row.
 * Where the row leaves the usual default out, its first strategy is the default.
 */
export function matrixOf(config: CofferConfig): ReadonlyMap<string, MatrixRow> {
  const names = new Set<string>([...BUILT_IN_RESOURCE_TYPE_NAMES, ...config.resourceTypes.keys()]);
  return new Map([...names].map((name) => [name, rowOf(name, config.resourceTypes.get(name))]));
}

/** Whether the strategy may be used for the type of the row. */
export function isSupported(row: MatrixRow, strategyName: string): boolean {
  if (row.supportedStrategies.includes(strategyName)) return true;
  return row.isOpen && !isBuiltInStrategyName(strategyName);
}

/** The types of one strategy, of whatever kind. */
function fitsOf(strategy: BuiltInStrategyName): readonly string[] {
  return STRATEGY_FITS[strategy];
}

function rowOf(name: string, setting: ResourceTypeSetting | undefined): MatrixRow {
  const isBuiltIn = isBuiltInResourceTypeName(name);
  const usual: readonly string[] = isBuiltIn
    ? BUILT_IN_STRATEGY_NAMES.filter((strategy) => fitsOf(strategy).includes(name))
    : [];
  const configured = setting?.sandboxStrategy ?? null;
  const supported = new Set(setting?.supportedStrategies ?? usual);
  if (configured !== null) supported.add(configured);
  const usualDefault = isBuiltIn ? DEFAULT_STRATEGIES[name] : null;
  const [first = ""] = supported;
  const fallback = usualDefault !== null && supported.has(usualDefault) ? usualDefault : first;
  return {
    name,
    origin: isBuiltIn ? "built-in" : "custom",
    sandboxStrategy: configured ?? fallback,
    supportedStrategies: [...supported],
    isOpen: setting?.supportedStrategies === undefined,
    configured,
  };
}
