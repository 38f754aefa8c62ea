import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CofferConfig } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { loadCustomStrategies, pluginAccessOf } from "../../src/registry/load-custom-strategies.ts";
import type { StartUpReport } from "../../src/registry/load-custom-strategies.ts";
import { PluginLoader } from "../../src/registry/plugin-loader.ts";
import { StrategyRegistry } from "../../src/registry/strategy-registry.ts";
import { BUILT_IN_STRATEGIES } from "../../src/strategies/index.ts";
import { hostsBelow } from "../fixtures/strategies/test-host.ts";
import { tempFolder } from "../support/temp.ts";

/** A project folder as the registry finds it after its configuration was read. */
export interface OpenProject {
  readonly config: CofferConfig;
  readonly registry: StrategyRegistry;
  readonly report: StartUpReport;
}

/** A fresh folder with a `cofferdam.yaml`, modules and packages; all real files. */
export class Project {
  readonly outer = tempFolder();
  readonly folder = join(this.outer, "project");
  readonly state = join(this.outer, "state");

  constructor() {
    mkdirSync(this.folder);
    mkdirSync(this.state);
  }

  /** Writes a file, relative to the project, with the folders it needs. */
  put(path: string, text: string): string {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  /** Writes the configuration, reads it back and loads what it names. */
  async open(configText = ""): Promise<OpenProject> {
    const config = await loadConfig(this.put("cofferdam.yaml", configText));
    const registry = new StrategyRegistry({
      builtIns: BUILT_IN_STRATEGIES,
      hostFor: hostsBelow(this.state),
      plugins: new PluginLoader(pluginAccessOf(config)),
    });
    return { config, registry, report: await loadCustomStrategies(config, registry) };
  }
}
