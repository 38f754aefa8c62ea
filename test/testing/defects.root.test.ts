import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { conformanceAreas, directorySubject } from "../../src/testing/index.ts";
import { type MountedFileSystem, mountFileSystem } from "../support/loop.ts";
import { DefectSuite } from "./defect-suite.ts";
import { DEFECT_OF_RULE, KEPT_BY_ENGINE } from "./rules.ts";

/** Strategies that refuse nothing; what is refused with them, the engine refuses. */
const CARELESS = ["RefusesNothing", "PretendsEverything"];

let fileSystem: MountedFileSystem;
let suite: DefectSuite;
beforeAll(async () => {
  // In memory: none of this is about what a disk keeps, and hundreds of checks wait for theirs.
  fileSystem = mountFileSystem("tmpfs", { megabytes: 512 });
  suite = await DefectSuite.open(fileSystem.mountPoint);
});
afterAll(() => fileSystem[Symbol.asyncDispose]());

describe.each(Object.entries(DEFECT_OF_RULE))("in the area %s", (area, rules) => {
  it.each(Object.entries(rules).map(([rule, defect]) => ({ rule, defect })))(
    "the strategy $defect breaks one rule and no other (R121)",
    async ({ rule, defect }) => {
      expect(await suite.brokenRules(defect, area, rule)).toEqual([rule]);
    },
  );
});

it.each(Object.entries(KEPT_BY_ENGINE))(
  "the area %s has rules that no strategy can break, because the engine keeps them (R121)",
  async (area, rules) => {
    const titles = Object.keys(rules);
    const passed = new Set<string>();
    for (const careless of CARELESS) {
      const tried = await suite.tryRules(careless, area, titles);
      expect(tried.broken).toEqual([]);
      for (const title of tried.passed) passed.add(title);
    }
    expect([...passed].toSorted()).toEqual(titles.toSorted());
  },
);

it("every rule of the kit has a strategy that breaks it or is the engine's (R121)", () => {
  const subject = directorySubject({ name: "any", strategyName: "filesystem_copy" });
  const known = [DEFECT_OF_RULE, KEPT_BY_ENGINE].flatMap(titlesIn);
  const all = conformanceAreas(subject).flatMap(({ name, checks }) =>
    checks.map(({ title }) => `${name}: ${title}`),
  );
  expect(known.toSorted()).toEqual(all.toSorted());
  const used = Object.values(DEFECT_OF_RULE).flatMap((rules) => Object.values(rules));
  expect([...new Set([...used, ...CARELESS])].toSorted()).toEqual(suite.names.toSorted());
});

function titlesIn(table: typeof DEFECT_OF_RULE): string[] {
  return Object.entries(table).flatMap(([area, rules]) =>
    Object.keys(rules).map((title) => `${area}: ${title}`),
  );
}
