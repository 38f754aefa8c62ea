import { readFileSync, readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { type ConformanceSubject, leftOutLines, runConformance } from "../../src/testing/index.ts";
import { ISOLATING_SUBJECTS, plain } from "./subjects.ts";

/** What the kit declares for a subject, without running it, and what it leaves out. */
async function declared(
  subject: ConformanceSubject,
): Promise<{ readonly titles: readonly string[]; readonly leftOut: readonly string[] }> {
  const titles: string[] = [];
  const runner = {
    describe: (_: string, body: () => void) => body(),
    test: (title: string) => titles.push(title),
  };
  const leftOut = await runConformance(runner, subject);
  return { titles, leftOut: leftOut.map(({ title }) => title) };
}

it("declares the same suite for every strategy that isolates, in every mode (R24)", async () => {
  const whole = await declared(plain("copy_on_write"));
  expect(whole.titles.length).toBeGreaterThan(100);
  for (const subject of ISOLATING_SUBJECTS) expect(await declared(subject)).toEqual(whole);
  // What is left out is for those that do not isolate, and runs for the strategy that does not.
  const { titles } = await declared(plain("none"));
  expect(whole.leftOut.filter((title) => !titles.includes(title))).toEqual([]);
});

it("declares one test that fails with the reason when the strategy cannot be loaded", async () => {
  const bodies: (() => Promise<void>)[] = [];
  const runner = {
    describe: (_: string, body: () => void) => body(),
    test: (_: string, body: () => Promise<void>) => bodies.push(body),
  };
  expect(await runConformance(runner, plain("missing_strategy"))).toEqual([]);
  expect(bodies).toHaveLength(1);
  await expect(bodies[0]!()).rejects.toMatchObject({ code: "STRATEGY_NOT_FOUND" });
});

it("tells how many checks it left out for which reason", async () => {
  const leftOut = await runConformance(
    { describe: (_, body) => body(), test: () => undefined },
    plain("none"),
  );
  const counts = leftOutLines(leftOut).map((line) => Number(/^left out: (\d+), /.exec(line)?.[1]));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(leftOut.length);
});

it("is run for each of them by a file that says nothing but its name (R24)", () => {
  const folder = new URL(".", import.meta.url);
  const called = readdirSync(folder)
    .filter((name) => name.endsWith(".test.ts"))
    .flatMap((name) => {
      const source = readFileSync(new URL(name, folder), "utf8");
      const found = /^await runConformance\(kitRunner, (?:overlayIn|plain)\("(\w+)"\)\);$/m.exec(
        source,
      );
      return found === null ? [] : [found[1]];
    });
  const wanted = ["kernel", "userns", "fuse", "copy", "copy_on_write", "filesystem_copy", "none"];
  expect(new Set(called)).toEqual(new Set(wanted));
});
