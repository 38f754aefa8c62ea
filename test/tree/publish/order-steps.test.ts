import { expect, test } from "vitest";
import type { RelativePath } from "../../../src/model/byte-path.ts";
import { orderSteps } from "../../../src/tree/publish/order-steps.ts";
import type { Step } from "../../../src/tree/publish/step.ts";

test("puts objects first, what names them last, and removals after arrivals (R264)", () => {
  const wanted: readonly [Step["op"], string][] = [
    ["create", "sub/.git/objects/ff/new"],
    ["create", "z/.git/objects/00/new"],
    ["create", "a/new"],
    ["create", "a/new/below"],
    ["create", "z/.git/config"],
    ["create", "z/index"],
    ["remove", "b/gone/below"],
    ["remove", "b/gone"],
    ["remove", "a-file"],
    ["create", "a/.git/HEAD"],
    ["create", "a/.git/refs/heads/main"],
    ["remove", "a/.git/packed-refs"],
    ["create", "a/.git/index"],
    ["remove", "z/.git/objects/01/old"],
    ["remove", "a/.git/objects/02/old"],
  ];
  const steps = wanted.map(([op, path]) => ({ op, path: path as RelativePath }));
  const orders = [steps.toReversed(), steps.toSorted((a, b) => (a.path < b.path ? -1 : 1))];
  for (const given of orders) expect(orderSteps(given)).toEqual(steps);
});
