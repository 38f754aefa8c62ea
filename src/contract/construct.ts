import { describeThrown, StrategyValidationError } from "../errors/index.ts";
import type { StrategyClass, StrategyHost } from "./host.ts";
import type { SandboxStrategy } from "./strategy.ts";
import { validateStrategy } from "./validate.ts";

/**
 * Makes a strategy from whatever a module exported and checks it against the contract.
 *
 * @throws StrategyValidationError `STRATEGY_VALIDATION` when the export is no class, its constructor throws (then
 * `cause` is what was thrown, untouched), or the object does not fulfil the contract.
 */
export function constructStrategy(
  exported: unknown,
  host: StrategyHost,
  options: Readonly<Record<string, unknown>> | undefined,
  name: string,
): SandboxStrategy {
  if (!isConstructor(exported)) {
    throw new StrategyValidationError(`Strategy ${name} is not a class`, {
      data: {
        missing: [],
        notCallable: [],
        problems: [`a class was expected, not ${kindOf(exported)}`],
      },
      operation: "register",
      strategyName: name,
    });
  }
  const instance = construct(exported, host, options, name);
  validateStrategy(instance, { name });
  return instance;
}

function construct(
  strategyClass: StrategyClass,
  host: StrategyHost,
  options: Readonly<Record<string, unknown>> | undefined,
  name: string,
): unknown {
  try {
    return new strategyClass(host, options);
  } catch (thrown) {
    const what = `the constructor throws: ${describeThrown(thrown)}`;
    throw new StrategyValidationError(`Strategy ${name} cannot be made: ${what}`, {
      data: { missing: [], notCallable: [], problems: [what] },
      operation: "register",
      strategyName: name,
      hint: "Correct the constructor; nothing of the strategy was used.",
      cause: thrown,
    });
  }
}

/** Asks the engine without running the function: only a constructor may stand as the target of `new`. */
function isConstructor(value: unknown): value is StrategyClass {
  if (typeof value !== "function") return false;
  try {
    Reflect.construct(Object, [], value);
    return true;
  } catch {
    return false;
  }
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "function") return "a function that cannot be constructed";
  return Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
}
