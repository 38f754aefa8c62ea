import { describe, expect, it } from "vitest";
import type { FaultPoint } from "../support/faults.ts";
import { runChild } from "../support/child.ts";

const PROGRAM = new URL("./programs/sample.ts", import.meta.url);

async function chosen(
  length: number,
  most: number,
  env: Record<string, string>,
  ...shift: number[]
) {
  const done = await runChild(PROGRAM, [length, most, ...shift].map(String), { env });
  expect(done.code).toBe(0);
  return JSON.parse(done.stdout.trimEnd().split("\n").at(-1) ?? "") as FaultPoint["at"][];
}

describe("a sample of points", () => {
  it("takes the first, the last and every few between, as the seed says", async () => {
    expect(await chosen(14, 6, { COFFERDAM_SEED: "3" })).toEqual([1, 2, 5, 8, 11, 14]);
    expect(await chosen(14, 6, { COFFERDAM_SEED: "4" })).toEqual([1, 3, 6, 9, 12, 14]);
  });

  it("takes all points of a short operation", async () => {
    expect(await chosen(5, 6, { COFFERDAM_SEED: "1" })).toEqual([1, 2, 3, 4, 5]);
  });

  it("takes all points when the environment asks for them", async () => {
    const all = await chosen(50, 6, { COFFERDAM_SEED: "1", COFFERDAM_ALL_POINTS: "1" });
    expect(all).toEqual(Array.from({ length: 50 }, (_, at) => at + 1));
  });
});

describe("a sample of anything", () => {
  it("is spread over all, from where the seed and the caller's number say", async () => {
    expect(await chosen(8, 3, { COFFERDAM_SEED: "0" }, 0)).toEqual([1, 3, 6]);
    expect(await chosen(8, 3, { COFFERDAM_SEED: "1" }, 0)).toEqual([2, 4, 7]);
    expect(await chosen(8, 3, { COFFERDAM_SEED: "1" }, 2)).toEqual([1, 4, 6]);
  });

  it("is everything where there is little, and where the environment asks for all", async () => {
    expect(await chosen(3, 3, { COFFERDAM_SEED: "5" }, 1)).toEqual([1, 2, 3]);
    const all = await chosen(9, 2, { COFFERDAM_SEED: "5", COFFERDAM_ALL_POINTS: "1" }, 1);
    expect(all).toHaveLength(9);
  });
});
