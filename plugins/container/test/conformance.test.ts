import { directorySubject, runConformance } from "cofferdam/testing";
import { afterAll } from "vitest";
import { kitRunner } from "../../../test/support/kit-runner.ts";
import { TestEngine } from "./test-engine.ts";

const engine = new TestEngine();
afterAll(() => engine.close());

await runConformance(
  kitRunner,
  directorySubject({
    name: "container",
    strategyName: "container",
    options: { config: engine.configuration() },
  }),
);
