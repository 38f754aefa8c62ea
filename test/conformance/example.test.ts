import { fileURLToPath } from "node:url";
import { directorySubject, runConformance } from "../../src/testing/index.ts";
import { kitRunner } from "../support/kit-runner.ts";

const config = fileURLToPath(
  new URL("../../examples/tar-snapshots/cofferdam.yaml", import.meta.url),
);

await runConformance(
  kitRunner,
  directorySubject({
    name: "the example tar-snapshots",
    strategyName: "./strategy.ts:TarSnapshotStrategy",
    options: { config },
  }),
);
