import { describe, expect, expectTypeOf, it } from "vitest";
import type { StrategyClass } from "../../src/contract/host.ts";
import { BUILT_IN_STRATEGY_NAMES } from "../../src/model/strategy-names.ts";
import type { BuiltInStrategyName } from "../../src/model/strategy-names.ts";
import { BUILT_IN_STRATEGIES } from "../../src/strategies/index.ts";
import { Project } from "./project.ts";

describe("built-in strategies", () => {
  it("have an implementation for every name, and no other", () => {
    expect(Object.keys(BUILT_IN_STRATEGIES)).toEqual(BUILT_IN_STRATEGY_NAMES);
    expectTypeOf(BUILT_IN_STRATEGIES).toExtend<
      Readonly<Record<BuiltInStrategyName, () => Promise<StrategyClass>>>
    >();
  });

  it.each(BUILT_IN_STRATEGY_NAMES)("pass the validation that strangers pass: %s", async (name) => {
    const { registry } = await new Project().open();
    await registry.resolve(name);
    expect(registry.describe(name)).toMatchObject({ origin: "built-in", status: "loaded" });
  });

  it.each(BUILT_IN_STRATEGY_NAMES)(
    "can be registered under a further name by module and class: %s (R115)",
    async (name) => {
      const strategyClass = await BUILT_IN_STRATEGIES[name]();
      const { registry, report } = await new Project().open(`
sandbox:
  strategy: "cofferdam:${strategyClass.name}"
  custom_strategies:
    further: { module: cofferdam, class: ${strategyClass.name} }
`);
      expect(report).toEqual({
        loaded: ["further", `cofferdam:${strategyClass.name}`],
        failed: [],
      });
      expect(await registry.resolve("further")).toBeInstanceOf(strategyClass);
      expect(registry.describe("further")).toMatchObject({ origin: "custom", module: "cofferdam" });
    },
  );
});
