import type { StrategyClass } from "../contract/host.ts";
import type { SandboxStrategy } from "../contract/strategy.ts";
import {
  StrategyLoadError,
  StrategyNotFoundError,
  StrategyValidationError,
} from "../errors/index.ts";
import type { SandboxError } from "../errors/index.ts";
import { closestName } from "../model/closest-name.ts";
import { isRegistrableName } from "../model/strategy-names.ts";
import { isStrategySpecifier, parseStrategySpecifier } from "../model/strategy-specifier.ts";
import type { StrategySpecifier } from "../model/strategy-specifier.ts";
import { specifierError } from "./plugin-loader.ts";
import type { PluginLoader } from "./plugin-loader.ts";
import { StrategyEntry } from "./strategy-entry.ts";
import type { StrategyDescription, StrategySurroundings } from "./strategy-entry.ts";

/** The implementations of built-in names; each is loaded when it is first asked for. */
export type BuiltInTable = Readonly<Record<string, () => Promise<StrategyClass>>>;

/** What a registry is made from. */
export interface StrategyRegistryInit extends StrategySurroundings {
  readonly builtIns: BuiltInTable;
  /** Loads strategies that are named by module; without it none can be. */
  readonly plugins?: PluginLoader;
}

/** How a strategy is registered. */
export interface RegisterOptions {
  /** Take the name although it is taken. */
  readonly replace?: boolean;
  /** Handed to the constructor. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/**
 * The only way from a name to a strategy. Every class, built-in or not, is constructed and validated once before its
 * name can be used; afterwards a name costs one look-up.
 */
export class StrategyRegistry {
  readonly #init: StrategyRegistryInit;
  readonly #entries = new Map<string, StrategyEntry>();
  /** Strategies that were named by module and not registered. */
  readonly #unnamed = new Map<string, StrategyEntry>();
  readonly #ready = new Map<string, SandboxStrategy>();

  constructor(init: StrategyRegistryInit) {
    this.#init = init;
    for (const [name, load] of Object.entries(init.builtIns)) {
      this.#entries.set(name, new StrategyEntry({ name, origin: "built-in", load }, init));
    }
  }

  /**
   * Registers a class, or the class of a module, under a name. It is loaded, constructed and validated first; on any
   * failure the registry stays as it was.
   *
   * @throws StrategyLoadError `STRATEGY_LOAD`, reason `taken` for a name in use unless `replace` is set, or why the
   * module cannot be loaded.
   * @throws StrategyValidationError `STRATEGY_VALIDATION` when the class does not fulfil the contract.
   */
  async register(
    name: string,
    source: StrategyClass | StrategySpecifier,
    { replace = false, options }: RegisterOptions = {},
  ): Promise<void> {
    const given = options === undefined ? {} : { options };
    const entry =
      typeof source === "function"
        ? this.#custom({ name, load: () => Promise.resolve(source), ...given })
        : this.#custom({ name, specifier: source, load: () => this.#import(source), ...given });
    this.#refuseName(entry, replace);
    const strategy = await entry.make();
    // Asked again, because another registration may have ended meanwhile.
    this.#refuseName(entry, replace);
    this.#entries.set(name, entry);
    this.#ready.set(name, strategy);
  }

  /**
   * Remembers that a configured strategy could not be registered, so that using its name tells why. A strategy that
   * has the name keeps it, unless it was to be replaced: then nothing may silently stand in for the failed one.
   */
  recordFailure(
    name: string,
    specifier: StrategySpecifier,
    error: SandboxError,
    { replace = false }: Pick<RegisterOptions, "replace"> = {},
  ): void {
    if (this.#entries.has(name) && !replace) return;
    const load = (): Promise<unknown> => Promise.reject(error);
    this.#entries.set(name, this.#custom({ name, specifier, load }, error));
    this.#ready.delete(name);
  }

  /** The strategy of a name if it is loaded already: one look-up. */
  get(name: string): SandboxStrategy | undefined {
    return this.#ready.get(name);
  }

  /**
   * The strategy of a built-in name, a registered name or `module:ClassName`, loaded when it was not. The same object
   * every time, also for calls at the same time.
   *
   * @throws StrategyNotFoundError `STRATEGY_NOT_FOUND` with the available names.
   * @throws StrategyLoadError `STRATEGY_LOAD`, StrategyValidationError `STRATEGY_VALIDATION` when loading fails.
   */
  async resolve(name: string): Promise<SandboxStrategy> {
    return this.#ready.get(name) ?? this.#load(name);
  }

  /** Whether something stands behind the name: registered, or `module:ClassName` of a sound form. */
  has(name: string): boolean {
    if (!isStrategySpecifier(name)) return this.#entries.has(name);
    return parseStrategySpecifier(name).specifier !== undefined;
  }

  /** The names that can be used, built-ins first. */
  names(): readonly string[] {
    return [...this.#entries].filter(([, entry]) => !entry.hasFailed).map(([name]) => name);
  }

  /** The names of the strategies that are loaded. */
  loaded(): readonly string[] {
    return [...this.#ready.keys()];
  }

  /** What is known of every registered strategy, failed ones included; loads nothing. */
  list(): readonly StrategyDescription[] {
    return [...this.#entries.values()].map((entry) => entry.describe());
  }

  /**
   * What is known of one strategy; loads nothing.
   *
   * @throws StrategyNotFoundError `STRATEGY_NOT_FOUND`
   */
  describe(name: string): StrategyDescription {
    return this.#entryOf(name).describe();
  }

  /** The error for a name that nobody registered. */
  notFound(name: string, keyPath?: string): StrategyNotFoundError {
    const available = this.names();
    const meant = closestName(name, available);
    return new StrategyNotFoundError(`There is no strategy named ${JSON.stringify(name)}`, {
      data: { name, available, ...(keyPath === undefined ? {} : { keyPath }) },
      operation: "resolve",
      hint: meant === null ? `Available: ${available.join(", ")}.` : `Did you mean ${meant}?`,
    });
  }

  async #load(name: string): Promise<SandboxStrategy> {
    const entry = this.#entryOf(name);
    if (!this.#entries.has(name)) this.#unnamed.set(name, entry);
    const strategy = await entry.make();
    // A replacement that was registered meanwhile stays.
    const current = this.#entries.get(name) ?? this.#unnamed.get(name);
    if (current === entry) this.#ready.set(name, strategy);
    return strategy;
  }

  #entryOf(name: string): StrategyEntry {
    const known = this.#entries.get(name) ?? this.#unnamed.get(name);
    if (known !== undefined) return known;
    if (!isStrategySpecifier(name)) throw this.notFound(name);
    const { specifier, problem } = parseStrategySpecifier(name);
    if (specifier !== undefined) {
      return this.#custom({ name, specifier, load: () => this.#import(specifier) });
    }
    const error = specifierError({ module: name, exportName: "" }, problem);
    throw error.inContext({ strategyName: name });
  }

  #custom(offer: Omit<StrategyEntry["offer"], "origin">, error?: SandboxError): StrategyEntry {
    return new StrategyEntry({ ...offer, origin: "custom" }, this.#init, error);
  }

  async #import(specifier: StrategySpecifier): Promise<unknown> {
    if (this.#init.plugins === undefined) throw specifierError(specifier, "notAllowed");
    return this.#init.plugins.load(specifier);
  }

  #refuseName({ offer }: StrategyEntry, replace: boolean): void {
    const { name, specifier } = offer;
    if (!isRegistrableName(name)) {
      const problem = `${JSON.stringify(name)} is not a name of letters, digits, _ . and - after a letter`;
      throw new StrategyValidationError(`Cannot register a strategy: ${problem}`, {
        data: { missing: [], notCallable: [], problems: [problem] },
        operation: "register",
      });
    }
    const holder = this.#entries.get(name);
    if (holder === undefined || holder.hasFailed || replace) return;
    const { module, exportName } = specifier ?? { module: "", exportName: "" };
    throw new StrategyLoadError(`The name ${name} is taken by a ${holder.offer.origin} strategy`, {
      data: { module, exportName, reason: "taken" },
      operation: "register",
      strategyName: name,
      hint: "Choose another name, or ask for the replacement outright.",
    });
  }
}
