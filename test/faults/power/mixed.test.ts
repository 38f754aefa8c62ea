import { afterEach, beforeEach, test } from "vitest";
import { removeFolder } from "../../support/remove-folder.ts";
import { createTempFolder } from "../../support/temp.ts";
import { OTHER_DEVICE } from "../ground.ts";
import { DIRECTORY } from "../mixed/directories.ts";
import { repository } from "../mixed/repository.ts";
import { sqlite } from "../mixed/sqlite.ts";
import { allOrOne } from "../mixed/try-each.ts";
import { mixedWorld } from "../mixed/world.ts";
import { faultSettings } from "../settings.ts";
import { settleTally } from "../tally.ts";
import { losePower, withBench } from "./define-power.ts";
import { MIXED_POWER_SHAPES } from "./power-shapes.ts";

const HOURS = 3_600_000;
let folder = "";
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => removeFolder(folder));

const WAYS = Object.entries(MIXED_POWER_SHAPES).flatMap(([name, makeShape]) => [
  { what: `${name} of a directory and a repository`, makeShape, databases: [] },
  { what: `${name} of a directory, a repository and SQLite`, makeShape, databases: [sqlite] },
]);

for (const kind of ["ext4", "xfs", "btrfs"] as const) {
  for (const { what, makeShape, databases } of allOrOne(WAYS)) {
    test(
      `${kind}: ${what} is all or nothing when the power fails at any moment (R222)`,
      async () => {
        const settings = faultSettings();
        // On the second disk: what is decided on the first must be there before the branch moves.
        const git = repository(folder, OTHER_DEVICE);
        const world = mixedWorld([DIRECTORY, git, ...databases]);
        const tally = await withBench(
          kind,
          (template) => makeShape(template, world),
          (bench) => losePower(bench, "only what is synced", settings),
        );
        settleTally(tally, settings);
      },
      6 * HOURS,
    );
  }
}
