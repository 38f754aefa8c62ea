import {
  isBuiltInResourceTypeName,
  isBuiltInStrategyName,
  isRegistrableName,
} from "../model/strategy-names.ts";
import {
  checkSpecifier,
  isStrategySpecifier,
  parseStrategySpecifier,
} from "../model/strategy-specifier.ts";
import type { SpecifierProblem } from "../model/strategy-specifier.ts";
import type { CustomStrategySetting, ResourceTypeSetting } from "./config.ts";
import type { ConfigReader } from "./config-reader.ts";

const NAME_RULE = "a name of letters, digits, _ . and - that begins with a letter";

const EXPECTED: Readonly<Record<SpecifierProblem, string>> = {
  malformed: "module:ClassName, where module is a package or begins with ./ or /",
  notAllowed: "a package or a file, never a URL",
};

/** The name of a strategy: built-in, registered, or `module:ClassName`. Only its form is checked. */
export function strategyName(reader: ConfigReader): string | undefined {
  return reader.text("the name of a strategy", checkName);
}

/** `sandbox.custom_strategies`. */
export function readCustomStrategies(
  reader: ConfigReader,
): ReadonlyMap<string, CustomStrategySetting> {
  const settings = new Map<string, CustomStrategySetting>();
  for (const [name, entry] of reader.named()) {
    if (!isRegistrableName(name)) entry.refuse(`the name ${JSON.stringify(name)}`, NAME_RULE);
    const setting = readCustomStrategy(name, entry);
    if (setting !== undefined) settings.set(name, setting);
  }
  return settings;
}

function readCustomStrategy(name: string, entry: ConfigReader): CustomStrategySetting | undefined {
  const keys = entry.section("module", "class", "options", "replace");
  const module = keys.module.text("a package or a file", (text) => {
    const { problem } = checkSpecifier({ module: text, exportName: "default" });
    return problem === undefined ? null : "a package, or a file that begins with ./ or /";
  });
  const exportName = keys.class.text("the name of a class", (text) => {
    const { problem } = checkSpecifier({ module: "./module", exportName: text });
    return problem === undefined ? null : "the name of a class";
  });
  const options = keys.options.record();
  const replace = keys.replace.flag() ?? false;
  if (isBuiltInStrategyName(name) && !replace) {
    entry.refuse("the name of a built-in strategy", "another name, or replace: true");
  }
  if (!keys.module.isPresent) return keys.module.refuse("nothing", "a package or a file");
  if (module === undefined) return undefined;
  return {
    name,
    module,
    exportName: exportName ?? "default",
    replace,
    ...(options === undefined ? {} : { options }),
  };
}

/** `resource_types`: rows for built-in types, and types of the user's own. */
export function readResourceTypes(reader: ConfigReader): ReadonlyMap<string, ResourceTypeSetting> {
  const settings = new Map<string, ResourceTypeSetting>();
  for (const [name, entry] of reader.named()) {
    if (!isRegistrableName(name)) entry.refuse(`the name ${JSON.stringify(name)}`, NAME_RULE);
    const keys = entry.section("sandbox_strategy", "supported_strategies");
    const sandboxStrategy = strategyName(keys.sandbox_strategy);
    const supportedStrategies = keys.supported_strategies.texts(
      "the name of a strategy",
      checkName,
    );
    const isSilent = !keys.sandbox_strategy.isPresent && supportedStrategies === undefined;
    if (isSilent && !isBuiltInResourceTypeName(name)) {
      entry.refuse("a type without a strategy", "sandbox_strategy or supported_strategies");
    }
    if (supportedStrategies?.length === 0) {
      keys.supported_strategies.refuse("an empty list", "at least one strategy");
    }
    settings.set(name, {
      name,
      ...(sandboxStrategy === undefined ? {} : { sandboxStrategy }),
      ...(supportedStrategies === undefined ? {} : { supportedStrategies }),
    });
  }
  return settings;
}

function checkName(text: string): string | null {
  if (isStrategySpecifier(text)) {
    const { problem } = parseStrategySpecifier(text);
    return problem === undefined ? null : EXPECTED[problem];
  }
  return isRegistrableName(text) ? null : "the name of a strategy";
}
