import type { CofferConfig } from "../config/config.ts";
import { UnsupportedStrategyError } from "../errors/index.ts";
import { closestName } from "../model/closest-name.ts";
import type { Resource, StrategyOrigin } from "../model/resource.ts";
import { isSupported, matrixOf } from "./resource-types.ts";
import type { MatrixRow } from "./resource-types.ts";
import type { StrategyRegistry } from "./strategy-registry.ts";

/** The strategy of a resource, and the setting that picked it. */
export interface ChosenStrategy {
  readonly name: string;
  readonly chosenBy: StrategyOrigin;
}

/**
 * Picks the name of the strategy for a resource. The most specific setting wins: the call, the resource, its type's
 * `sandbox_strategy`, `sandbox.strategy`, the default of the matrix. What it names is used or refused, never replaced
 * by another.
 *
 * @throws UnsupportedStrategyError `UNSUPPORTED_STRATEGY` with the allowed ones; also for an unknown resource type.
 * @throws StrategyNotFoundError `STRATEGY_NOT_FOUND`
 */
export function chooseStrategy(
  resource: Resource,
  config: CofferConfig,
  registry: StrategyRegistry,
  requested?: string,
): ChosenStrategy {
  const matrix = matrixOf(config);
  const row = matrix.get(resource.type);
  if (row === undefined) throw unknownType(resource, [...matrix.keys()], requested);
  const chosen = mostSpecific(resource, config, row, requested);
  if (!registry.has(chosen.name)) {
    throw registry.notFound(chosen.name).inContext({ resourceId: resource.resourceId });
  }
  if (!isSupported(row, chosen.name)) throw unsupported(resource, row, chosen.name);
  return chosen;
}

function mostSpecific(
  resource: Resource,
  config: CofferConfig,
  row: MatrixRow,
  requested: string | undefined,
): ChosenStrategy {
  if (requested !== undefined) return { name: requested, chosenBy: "call" };
  if (resource.sandboxStrategy !== undefined) {
    return { name: resource.sandboxStrategy, chosenBy: "resource" };
  }
  if (row.configured !== null) return { name: row.configured, chosenBy: "resourceType" };
  if (config.sandbox.strategy !== null)
    return { name: config.sandbox.strategy, chosenBy: "global" };
  return { name: row.sandboxStrategy, chosenBy: "default" };
}

function unsupported(resource: Resource, row: MatrixRow, name: string): UnsupportedStrategyError {
  const allowed = row.supportedStrategies;
  return new UnsupportedStrategyError(
    `A resource of type ${row.name} cannot be sandboxed by ${name}`,
    {
      data: { resourceType: row.name, strategyName: name, allowed },
      operation: "create",
      resourceId: resource.resourceId,
      strategyName: name,
      hint: `Use ${allowed.join(", ")}.`,
    },
  );
}

function unknownType(
  resource: Resource,
  known: readonly string[],
  requested: string | undefined,
): UnsupportedStrategyError {
  const strategyName = requested ?? resource.sandboxStrategy ?? "";
  const meant = closestName(resource.type, known);
  return new UnsupportedStrategyError(
    `There is no resource type ${JSON.stringify(resource.type)}`,
    {
      data: { resourceType: resource.type, strategyName, allowed: [] },
      operation: "create",
      resourceId: resource.resourceId,
      hint: meant === null ? `Known types: ${known.join(", ")}.` : `Did you mean ${meant}?`,
    },
  );
}
