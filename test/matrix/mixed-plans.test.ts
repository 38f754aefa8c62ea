import { describe } from "vitest";
import { defineMixedPlans } from "../mixed/define-mixed-plans.ts";
import { choicesOf } from "../mixed/kinds.ts";

describe("every two and three kinds of resources in one plan (R146)", () => {
  defineMixedPlans([2, 3].flatMap(choicesOf));
});
