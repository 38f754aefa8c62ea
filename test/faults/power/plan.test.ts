import { expect, test } from "vitest";
import { faultSettings } from "../settings.ts";
import { settleTally } from "../tally.ts";
import { losePower, withBench } from "./define-power.ts";
import type { Writing } from "./lose-power.ts";
import { POWER_SHAPES } from "./power-shapes.ts";

const HOURS = 3_600_000;
const WAYS: readonly Writing[] = [
  "only what is synced",
  "all of the first disk",
  "all of the second disk",
];

for (const kind of ["ext4", "xfs", "btrfs"] as const) {
  for (const [name, makeShape] of Object.entries(POWER_SHAPES)) {
    test(
      `${kind}: ${name} is all or nothing when the power fails at any moment (R222)`,
      async () => {
        const settings = faultSettings();
        const { all, only } = settings;
        const ways = all ? WAYS : WAYS.slice(0, 1);
        const meant = ways.filter((way) => only === null || only === kind || only === way);
        const tallies = await withBench(kind, makeShape, async (bench) => {
          const made = [];
          for (const writing of meant) made.push(await losePower(bench, writing, settings));
          return made;
        });
        expect(tallies).toHaveLength(meant.length);
        for (const tally of tallies) settleTally(tally, settings);
      },
      6 * HOURS,
    );
  }
}
