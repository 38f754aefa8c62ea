import { runConformance } from "../../src/testing/index.ts";
import { kitRunner } from "../support/kit-runner.ts";
import { plain } from "./subjects.ts";

await runConformance(kitRunner, plain("none"));
