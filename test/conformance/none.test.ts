import { directorySubject, runConformance } from "../../src/testing/index.ts";
import { kitRunner } from "../support/kit-runner.ts";

await runConformance(kitRunner, directorySubject({ name: "none", strategyName: "none" }));
