import { isAbsolute } from "node:path";
import type { SandboxAddress, SandboxCopy } from "../contract/strategy.ts";
import { StrategyValidationError } from "../errors/index.ts";

/** What a program can be given as the name of a variable. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Variables that are the engine's own. */
const RESERVED = "COFFERDAM_";

/**
 * What a strategy lends to a command: a file, or an address.
 * @throws StrategyValidationError (`STRATEGY_VALIDATION`) for anything else; its values are not told, they may be secret.
 */
export function parseLent(lent: unknown, strategyName: string): SandboxCopy | SandboxAddress {
  const problems = problemsOf(lent);
  if (problems.length === 0) return lent as SandboxCopy | SandboxAddress;
  throw new StrategyValidationError(
    `beginCopy of strategy ${strategyName} gave nothing that can be lent: ${problems.join("; ")}`,
    {
      data: { missing: [], notCallable: [], problems },
      operation: "getPath",
      strategyName,
      hint: "It gives { location, file } for a file, or { environment, needsNetwork } for an address.",
    },
  );
}

function problemsOf(lent: unknown): string[] {
  if (typeof lent !== "object" || lent === null) return ["it is not an object"];
  const { environment, needsNetwork, location, file } = lent as Record<string, unknown>;
  if (environment === undefined) {
    return Object.entries({ location, file }).flatMap(([name, path]) =>
      typeof path === "string" && isAbsolute(path) && !path.includes("\0")
        ? []
        : [`${name} is not an absolute path`],
    );
  }
  return [
    ...(typeof needsNetwork === "boolean" ? [] : ["needsNetwork is not true or false"]),
    ...variableProblems(environment),
  ];
}

function variableProblems(environment: unknown): string[] {
  if (typeof environment !== "object" || environment === null)
    return ["environment is not an object"];
  return Object.entries(environment).flatMap(([name, value]) => {
    if (!NAME.test(name)) return [`${JSON.stringify(name)} is no name of a variable`];
    if (name.startsWith(RESERVED)) return [`${name} is the engine's own`];
    const isValue = value === null || (typeof value === "string" && !value.includes("\0"));
    return isValue ? [] : [`${name} is neither a text nor null`];
  });
}
