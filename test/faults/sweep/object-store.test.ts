import { afterAll, beforeAll } from "vitest";
import { CephServer } from "../../support/ceph-server.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { createTempFolder } from "../../support/temp.ts";
import { definePlanSweeps } from "../define-plan-sweeps.ts";
import { defineSweep } from "../define-sweep.ts";
import { bucket } from "../mixed/bucket.ts";
import { DIRECTORY } from "../mixed/directories.ts";
import { repository } from "../mixed/repository.ts";
import { mixedWorld } from "../mixed/world.ts";
import { type WorldOfSandboxes, planCommitShape, planUndoShape } from "../shapes/plan.ts";

let server: CephServer | undefined;
let folder = "";
let world: WorldOfSandboxes;
let alone: WorldOfSandboxes;
beforeAll(async () => {
  server = await CephServer.start();
  folder = createTempFolder();
  alone = mixedWorld([bucket(server)]);
  world = mixedWorld([DIRECTORY, repository(folder), bucket(server)]);
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  removeFolder(folder);
});

definePlanSweeps("a directory, a repository and a bucket", () => world);
defineSweep(
  "a commit of a bucket alone publishes all or nothing",
  (template) => planCommitShape(template, alone),
  { sampled: 2 },
);
defineSweep(
  "an undo of a bucket alone takes all of it back or nothing",
  (template) => planUndoShape(template, alone),
  { sampled: 2 },
);
