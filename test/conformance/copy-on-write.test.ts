import { directorySubject, runConformance } from "../../src/testing/index.ts";
import { kitRunner } from "../support/kit-runner.ts";

await runConformance(
  kitRunner,
  directorySubject({ name: "copy_on_write", strategyName: "copy_on_write" }),
);
