import type { CofferConfig } from "../config/config.ts";
import { configurationError, showFound, suggest } from "../config/config-problem.ts";
import { renderKeyPath } from "../config/key-path.ts";
import { UnsupportedStrategyError } from "../errors/index.ts";
import type { ConfigurationProblem } from "../errors/index.ts";
import type { Resource } from "../model/resource.ts";
import { chooseStrategy } from "./choose-strategy.ts";
import { namedStrategies } from "./named-strategies.ts";
import type { StrategyRegistry } from "./strategy-registry.ts";

/**
 * Checks that every strategy named in the configuration exists and that every configured resource gets one that fits its
 * type. Call it after `loadCustomStrategies`; a strategy that failed to load counts as existing, because using it tells
 * why it failed.
 *
 * @throws ConfigurationError `CONFIGURATION` with all wrong places: key path, the name found, the names known. Its
 * cause is the StrategyNotFoundError or UnsupportedStrategyError of the first.
 */
export function checkNames(config: CofferConfig, registry: StrategyRegistry): void {
  const unknown = namedStrategies(config).filter(({ name }) => !registry.has(name));
  const [first] = unknown;
  if (first !== undefined) {
    const known = registry.names();
    const problems = unknown.map(({ name, keyPath }) => ({
      keyPath,
      found: showFound(name),
      expected: suggest(name, known),
    }));
    const cause = registry.notFound(first.name, first.keyPath);
    throw configurationError(config.file!, problems, cause);
  }
  const misfits = [...config.resources.values()].flatMap((resource) =>
    misfit(resource, config, registry),
  );
  const [firstMisfit] = misfits;
  if (firstMisfit === undefined) return;
  const problems = misfits.map(({ problem }) => problem);
  throw configurationError(config.file!, problems, firstMisfit.error);
}

function misfit(
  resource: Resource,
  config: CofferConfig,
  registry: StrategyRegistry,
): { readonly problem: ConfigurationProblem; readonly error: UnsupportedStrategyError }[] {
  try {
    chooseStrategy(resource, config, registry);
    return [];
  } catch (error) {
    if (!(error instanceof UnsupportedStrategyError)) throw error;
    const key = resource.sandboxStrategy === undefined ? "type" : "strategy";
    const { strategyName, allowed } = error.data;
    const problem = {
      keyPath: renderKeyPath(["resources", resource.resourceId, key]),
      found: `${showFound(strategyName)} for ${resource.type}`,
      expected: suggest(strategyName, allowed),
    };
    return [{ problem, error }];
  }
}
