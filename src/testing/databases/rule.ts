import type { Area } from "../area.ts";
import type { Need } from "../needs.ts";
import type { DatabaseSubject } from "./subject.ts";
import { DatabaseTrial } from "./trial.ts";

/** A rule for databases before it knows its subject. */
export interface DatabaseRule {
  readonly title: string;
  readonly needs?: readonly Need[];
  prove(trial: DatabaseTrial): Promise<void>;
}

/** The rules about one thing. */
export interface DatabaseRules {
  readonly name: string;
  readonly rules: readonly DatabaseRule[];
}

/** Gives the rules of an area their subject. */
export function bindDatabaseArea({ name, rules }: DatabaseRules, subject: DatabaseSubject): Area {
  const checks = rules.map((rule) => ({
    title: rule.title,
    requires: (capabilities: Parameters<Need["isMet"]>[0]): string | null => {
      const unmet = rule.needs?.find((need) => !need.isMet(capabilities));
      return unmet === undefined ? null : `the strategy ${unmet.otherwise}`;
    },
    run: async (): Promise<void> => {
      await using trial = await DatabaseTrial.begin(subject);
      await rule.prove(trial);
    },
  }));
  return { name, checks };
}
