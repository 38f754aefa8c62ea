import { type DeclaredCapabilities, withDefaults } from "../index.ts";
import type { Area } from "./area.ts";
import { conformanceAreas } from "./conformance-areas.ts";
import type { ConformanceSubject } from "./subject.ts";

/** The two functions of a test runner that the kit needs: those of vitest, `node:test`, mocha or jest. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  test(title: string, body: () => Promise<void>): unknown;
}

/** A check that does not concern a strategy, and why. */
export interface LeftOutCheck {
  readonly area: string;
  readonly title: string;
  readonly reason: string;
}

/**
 * Declares every check that concerns the strategy as a test. Which ones do, the strategy itself says by its
 * capabilities; what is left out is returned, so that nothing goes missing in silence.
 */
export function runConformance(
  runner: TestRunner,
  subject: ConformanceSubject,
): Promise<readonly LeftOutCheck[]> {
  return declareAreas(runner, subject.name, conformanceAreas(subject), capabilitiesOf(subject));
}

/** Declares the checks that concern a strategy with these capabilities, and gives the others. */
export async function declareAreas(
  { describe, test }: TestRunner,
  name: string,
  areas: readonly Area[],
  promised: Promise<DeclaredCapabilities>,
): Promise<readonly LeftOutCheck[]> {
  const capabilities = await promised.catch((thrown: Error) => thrown);
  if (capabilities instanceof Error) {
    // One failing test says it where people look; what an import throws, runners show with pages of source.
    test(`${name} can be used`, () => Promise.reject(capabilities));
    return [];
  }
  const leftOut: LeftOutCheck[] = [];
  describe(name, () => {
    for (const area of areas) {
      const fitting = area.checks.filter((check) => {
        const reason = check.requires(capabilities);
        if (reason !== null) leftOut.push({ area: area.name, title: check.title, reason });
        return reason === null;
      });
      if (fitting.length === 0) continue;
      describe(area.name, () => {
        for (const { title, run } of fitting) test(title, run);
      });
    }
  });
  return leftOut;
}

/** What was left out, for people: how many checks for which reason. */
export function leftOutLines(leftOut: readonly LeftOutCheck[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { reason } of leftOut) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].map(([reason, count]) => `left out: ${count}, because ${reason}`);
}

/** What the strategy of a subject promises, with every default filled in. */
export async function capabilitiesOf(subject: ConformanceSubject): Promise<DeclaredCapabilities> {
  await using session = await subject.open();
  const strategy = await session.cofferdam.registry.resolve(subject.strategyName);
  return withDefaults(strategy.capabilities);
}
