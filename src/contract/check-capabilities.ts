import { closestName } from "../model/closest-name.ts";
import { withDefaults } from "./capabilities.ts";
import type { StrategyCapabilities } from "./capabilities.ts";
import type { SandboxStrategy } from "./strategy.ts";

/** The methods that a capability announces. Whoever declares one without the other is refused. */
export const METHODS_OF_CAPABILITY = {
  undoCommit: ["undoCommit"],
  prepare: ["prepare", "fence", "commitPrepared", "abandonPrepared", "reversePrepared", "forget"],
  outcome: ["outcome"],
  decides: ["commitDeciding", "decided"],
  path: ["getPath"],
  copies: ["beginCopy", "endCopy"],
  encloses: ["beginCommand", "endCommand"],
  pathCalls: ["list", "remove", "rename"],
  forks: ["fork"],
  drops: ["drop"],
  resolves: ["resolve"],
} as const satisfies Partial<
  Record<keyof StrategyCapabilities, readonly (keyof SandboxStrategy)[]>
>;

type ValueCheck = { readonly expected: string; accepts(value: unknown): boolean };

const flag: ValueCheck = {
  expected: "true or false",
  accepts: (value) => typeof value === "boolean",
};

const oneOf = (...values: readonly string[]): ValueCheck => ({
  expected: values.map((value) => JSON.stringify(value)).join(" or "),
  accepts: (value) => values.includes(value as string),
});

const VALUES: Readonly<Record<keyof StrategyCapabilities, ValueCheck>> = {
  isolation: oneOf("full", "none"),
  undoCommit: flag,
  prepare: flag,
  outcome: flag,
  decides: { expected: "{ group: text, max: a whole number from 1 }", accepts: isDecider },
  path: flag,
  copies: flag,
  encloses: flag,
  pathCalls: flag,
  queries: flag,
  checkpoints: oneOf("native", "emulated", "none"),
  forks: flag,
  drops: flag,
  resolves: flag,
  changeTracking: oneOf("exact", "scan"),
  entries: oneOf("tree", "files"),
};

/**
 * What is wrong with a capability descriptor by itself: unknown names and values of the wrong kind, one sentence
 * each. An absent descriptor is fine and promises nothing.
 */
export function capabilityProblems(declared: unknown): string[] {
  if (declared === undefined) return [];
  if (typeof declared !== "object" || declared === null || Array.isArray(declared)) {
    return ["capabilities is not an object"];
  }
  return Object.entries(declared).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (!Object.hasOwn(VALUES, name)) return [unknownCapability(name)];
    const check = VALUES[name as keyof StrategyCapabilities];
    return check.accepts(value) ? [] : [`capabilities.${name} is not ${check.expected}`];
  });
}

/** What of a descriptor makes sense by itself. */
export function soundCapabilities(declared: unknown): StrategyCapabilities {
  if (typeof declared !== "object" || declared === null || Array.isArray(declared)) return {};
  const sound = Object.entries(declared).filter(
    ([name, value]) =>
      Object.hasOwn(VALUES, name) && VALUES[name as keyof StrategyCapabilities].accepts(value),
  );
  return Object.fromEntries(sound);
}

/** The optional methods that a sound descriptor promises, with the capability that does. */
export function promisedMethods(
  declared: StrategyCapabilities | undefined,
): { readonly capability: string; readonly method: keyof SandboxStrategy }[] {
  const capabilities = withDefaults(declared);
  const promised = Object.entries(METHODS_OF_CAPABILITY) as [
    keyof typeof METHODS_OF_CAPABILITY,
    readonly (keyof SandboxStrategy)[],
  ][];
  return promised
    .filter(
      ([capability]) => capabilities[capability] !== false && capabilities[capability] !== null,
    )
    .flatMap(([capability, methods]) => methods.map((method) => ({ capability, method })));
}

function unknownCapability(name: string): string {
  const meant = closestName(name, Object.keys(VALUES));
  const question = meant === null ? "" : `; did you mean ${meant}?`;
  return `capabilities.${name} is not a known capability${question}`;
}

function isDecider(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { group, max } = value as { readonly group?: unknown; readonly max?: unknown };
  return typeof group === "string" && group !== "" && Number.isSafeInteger(max) && Number(max) >= 1;
}
