import { describe, expect, it } from "vitest";
import type { FaultPoint } from "../support/faults.ts";
import { runChild } from "../support/child.ts";

const PROGRAM = new URL("./programs/sample.ts", import.meta.url);

async function chosen(length: number, most: number, env: Record<string, string>) {
  const done = await runChild(PROGRAM, [String(length), String(most)], { env });
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
