import { dirname, resolve } from "node:path";
import type { ConfigurationProblem } from "../errors/index.ts";
import { defaultConfig } from "./config.ts";
import type { CofferConfig } from "./config.ts";
import { configurationError } from "./config-problem.ts";
import { ConfigReader } from "./config-reader.ts";
import { readConnections } from "./read-connections.ts";
import { readResources } from "./read-resources.ts";
import { refuseTilde } from "./refuse-tilde.ts";
import { readCustomStrategies, readResourceTypes, strategyName } from "./read-strategies.ts";
import { isPackageName } from "../model/strategy-specifier.ts";
import { parseYaml } from "./yaml-tree.ts";

/**
 * Reads the text of a `cofferdam.yaml`. Checks the whole of it: syntax, unknown keys, kinds of values, resource types,
 * parents. Whether strategies of the given names exist is for `checkNames`, because plug-ins have to be loaded first.
 * Paths become absolute, relative to the file's folder. An empty text gives the defaults.
 *
 * @throws ConfigurationError `CONFIGURATION` with every problem: file, key path, line, found, expected.
 */
export async function parseConfig(text: string, file: string): Promise<CofferConfig> {
  const absoluteFile = resolve(file);
  const problems: ConfigurationProblem[] = [];
  const root = new ConfigReader(await parseYaml(text, absoluteFile), problems);
  const config = readConfig(root, absoluteFile);
  if (problems.length > 0) throw configurationError(absoluteFile, problems);
  return config;
}

function readConfig(root: ConfigReader, file: string): CofferConfig {
  const directory = dirname(file);
  const defaults = defaultConfig(directory);
  const top = root.section(
    "version",
    "sandbox",
    "resource_types",
    "resources",
    "connections",
    "publish",
    "state",
    "undo",
    "limits",
  );
  const version = top.version.amount({ whole: true });
  if (version !== undefined && version !== 1) top.version.refuse(String(version), "1");

  const sandbox = top.sandbox.section(
    "strategy",
    "custom_strategies",
    "plugin_roots",
    "plugin_packages",
  );
  const publish = top.publish.section("exclude", "outward_links", "special_bits");
  const state = top.state.section("directory");
  const undo = top.undo.section("retention_days", "max_bytes");
  const limits = top.limits.section("warn_bytes");
  const resourceTypes = readResourceTypes(top.resource_types);
  const path = (reader: ConfigReader): string | undefined =>
    reader.text("the path of a folder", refuseTilde);

  return {
    file,
    directory,
    sandbox: {
      strategy: strategyName(sandbox.strategy) ?? null,
      customStrategies: readCustomStrategies(sandbox.custom_strategies),
      pluginRoots: sandbox.plugin_roots
        .texts("the path of a folder", refuseTilde)
        ?.map((root) => resolve(directory, root)) ?? [directory],
      pluginPackages:
        sandbox.plugin_packages.texts("the name of a package", (text) =>
          isPackageName(text) ? null : "the name of a package",
        ) ?? [],
    },
    resourceTypes,
    resources: readResources(top.resources, { directory, resourceTypes }),
    connections: readConnections(top.connections, directory),
    publish: {
      exclude: publish.exclude.texts("a pattern") ?? defaults.publish.exclude,
      outwardLinks:
        publish.outward_links.choice("refuse", "allow") ?? defaults.publish.outwardLinks,
      specialBits:
        publish.special_bits.choice("refuse", "drop", "allow") ?? defaults.publish.specialBits,
    },
    state: { directory: absolute(directory, path(state.directory)) },
    undo: {
      retentionDays: undo.retention_days.amount({ whole: false }) ?? defaults.undo.retentionDays,
      maxBytes: undo.max_bytes.amount({ whole: true }) ?? defaults.undo.maxBytes,
    },
    limits: { warnBytes: limits.warn_bytes.amount({ whole: true }) ?? defaults.limits.warnBytes },
  };
}

function absolute(directory: string, path: string | undefined): string | null {
  return path === undefined ? null : resolve(directory, path);
}
