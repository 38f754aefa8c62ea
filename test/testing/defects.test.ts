import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { conformanceAreas, directorySubject } from "../../src/testing/index.ts";
import { removeFolder } from "../support/remove-folder.ts";
import { createTempFolder } from "../support/temp.ts";
import { DefectSuite } from "./defect-suite.ts";
import { DEFECT_OF_RULE, KEPT_BY_ENGINE } from "./rules.ts";

/** Strategies that refuse nothing; what is refused with them, the engine refuses. */
const CARELESS = ["RefusesNothing", "PretendsEverything"];

const folder = createTempFolder();
let suite: DefectSuite;
beforeAll(async () => {
  suite = await DefectSuite.open(folder);
});
afterAll(() => removeFolder(folder));

describe.each(Object.entries(DEFECT_OF_RULE))("in the area %s", (area, rules) => {
  it.each(Object.entries(rules).map(([rule, defect]) => ({ rule, defect })))(
    "the strategy $defect breaks one rule and no other (R121)",
    async ({ rule, defect }) => {
      expect(await suite.brokenRules(defect, area)).toEqual([rule]);
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
