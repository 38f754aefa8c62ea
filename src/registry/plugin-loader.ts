import { extname } from "node:path";
import { pathToFileURL } from "node:url";
import { JITI_OPTIONS } from "../config/jiti-options.ts";
import { locatePlugin } from "../config/plugin-files.ts";
import type { PluginAccess } from "../config/plugin-files.ts";
import { describeThrown, StrategyLoadError } from "../errors/index.ts";
import { checkSpecifier, packageNameOf } from "../model/strategy-specifier.ts";
import type { StrategySpecifier } from "../model/strategy-specifier.ts";
import { pickExport } from "./pick-export.ts";

/** This package, whose own classes may always be registered under further names. */
const OWN_PACKAGE = "cofferdam";

/**
 * Loads exported classes out of modules: ESM, CommonJS and TypeScript, from files and from packages. A module is
 * imported only after its real path was found to be allowed, and at most once.
 */
export class PluginLoader {
  readonly #access: PluginAccess;
  readonly #modules = new Map<string, Promise<unknown>>();

  constructor(access: PluginAccess) {
    this.#access = access;
  }

  /**
   * What the module exports under the name.
   *
   * @throws StrategyLoadError `STRATEGY_LOAD` with the reason: malformed, notAllowed, notFound, failed (then `cause` is
   * what the module threw), noExport.
   */
  async load(specifier: StrategySpecifier): Promise<unknown> {
    const { problem } = checkSpecifier(specifier);
    if (problem !== undefined) throw specifierError(specifier, problem);
    try {
      const picked = pickExport(await this.#namespaceOf(specifier), specifier.exportName);
      if (picked.found) return picked.value;
      const offered = picked.classes.length === 0 ? "no class" : picked.classes.join(", ");
      throw loadError(specifier, "noExport", `it exports ${offered}`, {
        hint: "Name one of these as the class.",
      });
    } catch (thrown) {
      if (thrown instanceof StrategyLoadError) throw thrown;
      throw loadError(specifier, "failed", describeThrown(thrown), {
        cause: thrown,
        hint: "The module itself threw this while it was imported: correct it, or take its entry out.",
      });
    }
  }

  async #namespaceOf(specifier: StrategySpecifier): Promise<unknown> {
    // By its own name the running copy is found, whatever is installed beside the configuration.
    if (packageNameOf(specifier.module) === OWN_PACKAGE) return this.#import(specifier.module);
    const { path, refused } = await locatePlugin(specifier.module, this.#access);
    if (path !== undefined) return this.#import(path);
    throw loadError(specifier, refused.reason, refused.explanation, refused);
  }

  #import(source: string): Promise<unknown> {
    const known = this.#modules.get(source);
    if (known !== undefined) return known;
    const loading = importModule(source);
    this.#modules.set(source, loading);
    return loading;
  }
}

/** The error for a text that does not name a class that may be loaded. */
export function specifierError(
  specifier: StrategySpecifier,
  problem: "malformed" | "notAllowed",
): StrategyLoadError {
  const why =
    problem === "malformed"
      ? "a strategy is named module:ClassName, where module is a package or begins with ./ or /"
      : "URLs are not loaded";
  return loadError(specifier, problem, why);
}

async function importModule(source: string): Promise<unknown> {
  if (!source.startsWith("/")) return import(source);
  if (![".ts", ".mts", ".cts"].includes(extname(source))) return import(pathToFileURL(source).href);
  const { createJiti } = await import("jiti");
  return createJiti(source, JITI_OPTIONS).import(source);
}

function loadError(
  { module, exportName }: StrategySpecifier,
  reason: NonNullable<StrategyLoadError["data"]["reason"]>,
  why: string,
  more: { readonly hint?: string; readonly cause?: unknown } = {},
): StrategyLoadError {
  return new StrategyLoadError(`Cannot load ${exportName} from ${module}: ${why}`, {
    data: { module, exportName, reason },
    operation: "load",
    hint: more.hint,
    ...("cause" in more ? { cause: more.cause } : {}),
  });
}
