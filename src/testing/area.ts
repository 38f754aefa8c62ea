import type { DeclaredCapabilities } from "../index.ts";
import type { Need } from "./needs.ts";
import type { SampleTree } from "./sample-tree.ts";
import type { ConformanceSubject } from "./subject.ts";
import { Trial } from "./trial.ts";

/** One rule of the contract, ready to run against one subject. */
export interface Check {
  /** A sentence about behaviour; ends with the ids of the requirements it proves. */
  readonly title: string;
  /** Why the rule does not concern a strategy with these capabilities; null when it does. */
  requires(capabilities: DeclaredCapabilities): string | null;
  /** Throws an AssertionError, or what the strategy threw, when the rule is broken. Leaves nothing behind. */
  run(): Promise<void>;
}

/** The rules about one thing. */
export interface Area {
  readonly name: string;
  readonly checks: readonly Check[];
}

/** A rule before it knows its subject. */
export interface Rule {
  readonly title: string;
  readonly needs?: readonly Need[];
  /** What the resource holds; the usual sample unless given. */
  readonly tree?: SampleTree;
  prove(trial: Trial): Promise<void>;
}

/** The rules about one thing before they know their subject. */
export interface AreaRules {
  readonly name: string;
  readonly rules: readonly Rule[];
}

/** Gives the rules of an area their subject. */
export function bindArea({ name, rules }: AreaRules, subject: ConformanceSubject): Area {
  return { name, checks: rules.map((rule) => bindRule(rule, subject)) };
}

function bindRule(rule: Rule, subject: ConformanceSubject): Check {
  return {
    title: rule.title,
    requires: (capabilities) => {
      const unmet = rule.needs?.find((need) => !need.isMet(capabilities));
      return unmet === undefined ? null : `the strategy ${unmet.otherwise}`;
    },
    run: async () => {
      await using trial = await Trial.begin(subject, rule.tree);
      await rule.prove(trial);
    },
  };
}
