import { runConformance } from "../../src/testing/index.ts";
import { kitRunner } from "../support/kit-runner.ts";
import { overlayIn } from "./subjects.ts";

await runConformance(kitRunner, overlayIn("copy"));
