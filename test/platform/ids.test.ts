import { expect, test } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { createIdSource, idTime, isId } from "../../src/platform/ids.ts";

test("makes ids of 26 characters that sort by time and never repeat", () => {
  let time = Date.UTC(2026, 0, 1);
  const ids = createIdSource({ now: () => new Date(time++) });
  const made = Array.from({ length: 2_000 }, () => ids.next());
  expect(made.every(isId)).toBe(true);
  expect(made.toSorted()).toEqual(made);
  expect(new Set(made.map((id) => id.slice(10))).size).toBe(2_000);
  expect(idTime(made[0] ?? "")).toBe(Date.UTC(2026, 0, 1));
});

test("uses every random character and the clock of the machine", () => {
  const before = systemClock.now().getTime();
  const ids = createIdSource();
  const random = Array.from({ length: 500 }, () => ids.next().slice(10)).join("");
  expect(new Set(random).size).toBe(32);
  expect(idTime(ids.next())).toBeGreaterThanOrEqual(before);
});

test.each([
  "",
  "8".repeat(26),
  "0".repeat(25),
  "0".repeat(27),
  `0${"u".repeat(25)}`,
  `../${"0".repeat(23)}`,
  `${"0".repeat(26)}\n`,
])("does not take %j for an id", (text) => {
  expect(isId(text)).toBe(false);
});
