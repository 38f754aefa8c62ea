import { directorySubject, runConformance } from "../../src/testing/index.ts";
import { kitRunner } from "../support/kit-runner.ts";

await runConformance(
  kitRunner,
  directorySubject({
    name: "overlay in mode fuse",
    strategyName: "overlay",
    properties: { mode: "fuse" },
  }),
);
