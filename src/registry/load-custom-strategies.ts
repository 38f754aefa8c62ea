import type { CofferConfig } from "../config/config.ts";
import { renderKeyPath } from "../config/key-path.ts";
import type { PluginAccess } from "../config/plugin-files.ts";
import { SandboxError } from "../errors/index.ts";
import { isStrategySpecifier } from "../model/strategy-specifier.ts";
import { namedStrategies } from "./named-strategies.ts";
import type { StrategyRegistry } from "./strategy-registry.ts";

/** What became of the strategies that a configuration brings in. */
export interface StartUpReport {
  readonly loaded: readonly string[];
  readonly failed: readonly FailedStrategy[];
}

/** A configured strategy that cannot be used. */
export interface FailedStrategy {
  readonly name: string;
  readonly keyPath: string;
  readonly error: SandboxError;
}

/**
 * Registers the configuration's custom strategies and loads those that it names as `module:ClassName`, one after the
 * other in the order of the file. One that fails does not keep the others from loading: it is in the report, and using
 * it throws the same error.
 */
export async function loadCustomStrategies(
  config: CofferConfig,
  registry: StrategyRegistry,
): Promise<StartUpReport> {
  const loaded: string[] = [];
  const failed: FailedStrategy[] = [];
  const attempt = async (
    name: string,
    keyPath: string,
    work: () => Promise<unknown>,
  ): Promise<void> => {
    try {
      await work();
      loaded.push(name);
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      failed.push({ name, keyPath, error });
    }
  };
  for (const setting of config.sandbox.customStrategies.values()) {
    const { name, module, exportName, options, replace } = setting;
    const keyPath = renderKeyPath(["sandbox", "custom_strategies", name]);
    const specifier = { module, exportName };
    const given = options === undefined ? { replace } : { replace, options };
    await attempt(name, keyPath, () => registry.register(name, specifier, given));
    const failure = failed.at(-1);
    if (failure?.name === name) registry.recordFailure(name, specifier, failure.error, { replace });
  }
  const seen = new Set<string>();
  for (const { name, keyPath } of namedStrategies(config)) {
    if (!isStrategySpecifier(name) || seen.has(name)) continue;
    seen.add(name);
    await attempt(name, keyPath, () => registry.resolve(name));
  }
  return { loaded, failed };
}

/** Where the configuration allows modules of strategies to come from. */
export function pluginAccessOf(config: CofferConfig): PluginAccess {
  return {
    directory: config.directory,
    roots: config.sandbox.pluginRoots,
    packages: config.sandbox.pluginPackages,
  };
}
