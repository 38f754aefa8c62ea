import { directorySubject, runConformance } from "../../src/testing/index.ts";
import { kitRunner } from "../support/kit-runner.ts";

await runConformance(
  kitRunner,
  directorySubject({ name: "filesystem_copy", strategyName: "filesystem_copy" }),
);
