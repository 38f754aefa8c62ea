import { afterAll, beforeAll } from "vitest";
import { TestEngine } from "../../../plugins/container/test/test-engine.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { createTempFolder } from "../../support/temp.ts";
import { definePlanSweeps } from "../define-plan-sweeps.ts";
import { container } from "../mixed/container.ts";
import { DIRECTORY } from "../mixed/directories.ts";
import { repository } from "../mixed/repository.ts";
import { mixedWorld } from "../mixed/world.ts";
import type { WorldOfSandboxes } from "../shapes/plan.ts";

let engine: TestEngine | undefined;
let folder = "";
let world: WorldOfSandboxes;
beforeAll(() => {
  engine = new TestEngine();
  folder = createTempFolder();
  world = mixedWorld([DIRECTORY, repository(folder), container(engine)]);
});
afterAll(() => {
  engine?.close();
  removeFolder(folder);
});

definePlanSweeps("a directory, a repository and a container with a kept image", () => world);
