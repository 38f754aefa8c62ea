import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { directorySubject, runConformance } from "../../src/testing/index.ts";
import { kitRunner } from "../support/kit-runner.ts";
import { linkPackage } from "../support/package-folder.ts";
import { removeFolder } from "../support/remove-folder.ts";
import { createTempFolder } from "../support/temp.ts";

const EXAMPLES = {
  "content-store": "./strategy.ts:ContentStoreStrategy",
  "tar-snapshots": "./strategy.ts:TarSnapshotStrategy",
};

for (const [name, strategyName] of Object.entries(EXAMPLES)) {
  const example = fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
  // In a project of its own, where the name of the package means the package that the kit is from.
  const project = createTempFolder();
  cpSync(example, project, { recursive: true });
  linkPackage(project);
  afterAll(() => removeFolder(project));

  await runConformance(
    kitRunner,
    directorySubject({
      name: `the example ${name}`,
      strategyName,
      options: { config: join(project, "cofferdam.yaml") },
    }),
  );
}
