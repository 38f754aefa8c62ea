import { describeThrown, StrategyValidationError } from "../errors/index.ts";
import { capabilityProblems, promisedMethods, soundCapabilities } from "./check-capabilities.ts";
import { REQUIRED_METHODS } from "./strategy.ts";
import type { SandboxStrategy } from "./strategy.ts";

/** Methods that the engine calls whenever they are there, without a capability that announces them. */
const UNANNOUNCED_METHODS = [
  "beginLayers",
  "checkUndo",
  "close",
  "deleteCheckpoint",
  "dropUndo",
  "endLayers",
  "expectCommit",
  "keepBases",
  "probe",
  "unchangeable",
] as const satisfies readonly (keyof SandboxStrategy)[];

interface Findings {
  readonly missing: string[];
  readonly notCallable: string[];
  readonly problems: string[];
}

/**
 * Checks that an object fulfils the strategy contract: all nine methods, and every method that its capabilities
 * promise. Inherited, async and instance-assigned methods count alike. Calls none of them.
 *
 * @throws StrategyValidationError `STRATEGY_VALIDATION` that lists everything wrong at once.
 */
export function validateStrategy(
  instance: unknown,
  about: { readonly name: string },
): asserts instance is SandboxStrategy {
  const findings: Findings = { missing: [], notCallable: [], problems: [] };
  if (typeof instance !== "object" || instance === null) {
    findings.problems.push("the strategy is not an object");
  } else {
    inspect(instance, findings);
  }
  const { missing, notCallable, problems } = findings;
  if (missing.length + notCallable.length + problems.length === 0) return;
  throw new StrategyValidationError(
    `Strategy ${about.name} does not fulfil the contract: ${summary(findings)}`,
    {
      data: { missing, notCallable, problems },
      operation: "register",
      strategyName: about.name,
      hint: "A strategy has all nine methods and every method that its capabilities promise.",
    },
  );
}

function inspect(instance: object, findings: Findings): void {
  for (const method of REQUIRED_METHODS) {
    const member = memberOf(instance, method, findings);
    if (member === undefined) findings.missing.push(method);
    else if (typeof member.value !== "function") findings.notCallable.push(method);
  }
  for (const method of UNANNOUNCED_METHODS) {
    const member = memberOf(instance, method, findings);
    if (member !== undefined && typeof member.value !== "function")
      findings.notCallable.push(method);
  }
  // An object with `then` would be called by every `await` that hands the strategy on.
  if (typeof memberOf(instance, "then", findings)?.value === "function") {
    findings.problems.push("the strategy has a method `then`, so it would be taken for a promise");
  }
  const declared = memberOf(instance, "capabilities", findings)?.value;
  findings.problems.push(...capabilityProblems(declared));
  for (const { capability, method } of promisedMethods(soundCapabilities(declared))) {
    const value = memberOf(instance, method, findings)?.value;
    if (typeof value === "function") continue;
    const state = value === undefined ? "missing" : "not callable";
    findings.problems.push(`capabilities.${capability} is declared but ${method} is ${state}`);
  }
}

/** The member's value; undefined when there is none. A getter that throws is a finding, not a crash. */
function memberOf(
  instance: object,
  key: string,
  findings: Findings,
): { readonly value: unknown } | undefined {
  try {
    const value: unknown = Reflect.get(instance, key);
    return value === undefined ? undefined : { value };
  } catch (thrown) {
    findings.problems.push(`reading ${key} throws: ${describeThrown(thrown)}`);
    return { value: null };
  }
}

function summary({ missing, notCallable, problems }: Findings): string {
  return [
    ...(missing.length > 0 ? [`missing ${missing.join(", ")}`] : []),
    ...(notCallable.length > 0 ? [`not callable ${notCallable.join(", ")}`] : []),
    ...problems,
  ].join("; ");
}
