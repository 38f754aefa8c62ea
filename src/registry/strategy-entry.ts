import { withDefaults } from "../contract/capabilities.ts";
import type { DeclaredCapabilities } from "../contract/capabilities.ts";
import { constructStrategy } from "../contract/construct.ts";
import type { StrategyHost } from "../contract/host.ts";
import type { SandboxStrategy } from "../contract/strategy.ts";
import { describeThrown, SandboxError, StrategyLoadError } from "../errors/index.ts";
import type { StrategySpecifier } from "../model/strategy-specifier.ts";

/** What is known of one strategy. */
export interface StrategyDescription {
  readonly name: string;
  readonly origin: "built-in" | "custom";
  /** Where a custom strategy's class comes from, when that is a module. */
  readonly module?: string;
  readonly exportName?: string;
  readonly status: "loaded" | "failed" | "notLoaded";
  /** With every default filled in; null until the strategy is loaded. */
  readonly capabilities: DeclaredCapabilities | null;
  readonly error?: SandboxError;
}

/** What every strategy of a registry is made with. */
export interface StrategySurroundings {
  /** What the strategy of this name is constructed with. */
  hostFor(strategyName: string): StrategyHost;
  /** Put around every strategy, built-in or not, after it was validated. */
  wrap?(strategy: SandboxStrategy, strategyName: string): SandboxStrategy;
}

/** Where the class of a strategy comes from. */
export interface StrategyOffer {
  readonly name: string;
  readonly origin: "built-in" | "custom";
  readonly specifier?: StrategySpecifier;
  readonly options?: Readonly<Record<string, unknown>>;
  load(): Promise<unknown>;
}

/** One name of a registry: loads, constructs and validates its strategy once. */
export class StrategyEntry {
  readonly offer: StrategyOffer;
  readonly #surroundings: StrategySurroundings;
  #pending: Promise<SandboxStrategy> | undefined;
  #capabilities: DeclaredCapabilities | undefined;
  #error: SandboxError | undefined;

  constructor(offer: StrategyOffer, surroundings: StrategySurroundings, error?: SandboxError) {
    this.offer = offer;
    this.#surroundings = surroundings;
    this.#error = error;
  }

  /** Whether the name was taken by something that failed. */
  get hasFailed(): boolean {
    return this.#error !== undefined;
  }

  /** The strategy; the same object for every call, also at the same time. What failed is tried again when asked again. */
  make(): Promise<SandboxStrategy> {
    this.#pending ??= this.#make();
    return this.#pending;
  }

  /** What is known by now. */
  describe(): StrategyDescription {
    const { name, origin, specifier } = this.offer;
    const error = this.#error;
    const status = error === undefined && this.#capabilities === undefined ? "notLoaded" : "loaded";
    return {
      name,
      origin,
      ...specifier,
      status: error === undefined ? status : "failed",
      capabilities: this.#capabilities ?? null,
      ...(error === undefined ? {} : { error }),
    };
  }

  async #make(): Promise<SandboxStrategy> {
    const { name, options } = this.offer;
    try {
      const exported = await this.offer.load();
      const host = this.#surroundings.hostFor(name);
      const strategy = constructStrategy(exported, host, options, name);
      const wrapped = this.#surroundings.wrap?.(strategy, name) ?? strategy;
      this.#capabilities = withDefaults(strategy.capabilities);
      this.#error = undefined;
      return wrapped;
    } catch (thrown) {
      this.#pending = undefined;
      this.#error = asSandboxError(thrown, this.offer);
      throw this.#error;
    }
  }
}

function asSandboxError(thrown: unknown, { name, specifier }: StrategyOffer): SandboxError {
  if (thrown instanceof SandboxError) return thrown.inContext({ strategyName: name });
  const { module, exportName } = specifier ?? { module: "", exportName: "" };
  return new StrategyLoadError(`Cannot load the strategy ${name}: ${describeThrown(thrown)}`, {
    data: { module, exportName, reason: "failed" },
    operation: "load",
    strategyName: name,
    cause: thrown,
  });
}
