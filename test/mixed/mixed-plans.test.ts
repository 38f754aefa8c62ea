import { describe } from "vitest";
import { defineMixedPlans } from "./define-mixed-plans.ts";
import { KINDS, coveringChoices } from "./kinds.ts";

const all = Object.keys(KINDS);

// All pairs and triples are tried by test/matrix.
describe("resources of several kinds in one plan (R146)", () => {
  defineMixedPlans([...coveringChoices(), all, all.toReversed()]);
});
