import type { CofferConfig } from "../config/config.ts";
import { renderKeyPath } from "../config/key-path.ts";

/** A place of the configuration that names a strategy. */
export interface NamedStrategy {
  readonly name: string;
  readonly keyPath: string;
}

/** Every place of the configuration that names a strategy to be used, in the order of the file's sections. */
export function namedStrategies(config: CofferConfig): readonly NamedStrategy[] {
  const places: NamedStrategy[] = [];
  const add = (name: string | null | undefined, ...path: (string | number)[]): void => {
    if (name !== null && name !== undefined) places.push({ name, keyPath: renderKeyPath(path) });
  };
  add(config.sandbox.strategy, "sandbox", "strategy");
  for (const { name, sandboxStrategy, supportedStrategies } of config.resourceTypes.values()) {
    add(sandboxStrategy, "resource_types", name, "sandbox_strategy");
    for (const [index, supported] of (supportedStrategies ?? []).entries()) {
      add(supported, "resource_types", name, "supported_strategies", index);
    }
  }
  for (const { resourceId, sandboxStrategy } of config.resources.values()) {
    add(sandboxStrategy, "resources", resourceId, "strategy");
  }
  return places;
}
