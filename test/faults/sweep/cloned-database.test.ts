import { afterAll, beforeAll } from "vitest";
import { PostgresServer } from "../../support/postgres-server.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { createTempFolder } from "../../support/temp.ts";
import { defineSweep } from "../define-sweep.ts";
import { clonedPostgres } from "../mixed/cloned-postgres.ts";
import { DIRECTORY } from "../mixed/directories.ts";
import { repository } from "../mixed/repository.ts";
import { mixedWorld } from "../mixed/world.ts";
import { planCheckpointShape, planRestoreShape } from "../shapes/plan-checkpoint.ts";
import {
  type WorldOfSandboxes,
  planCleanupShape,
  planCommitShape,
  planUndoShape,
} from "../shapes/plan.ts";

let server: PostgresServer | undefined;
let folder = "";
let world: WorldOfSandboxes;
beforeAll(async () => {
  // Here processes die, never the power: what the server has written stays written.
  server = await PostgresServer.start({ fsync: "off" });
  folder = createTempFolder();
  world = mixedWorld([DIRECTORY, repository(folder), clonedPostgres(server, server.port)]);
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  removeFolder(folder);
});

defineSweep(
  "a commit of a directory, a repository and a database that a command edited publishes all or nothing",
  (template) => planCommitShape(template, world),
  { sampled: 2, hasChildren: true },
);
defineSweep(
  "an undo of such a commit takes all of it back or nothing",
  (template) => planUndoShape(template, world),
  { sampled: 1, hasChildren: true },
);
defineSweep(
  "a checkpoint of such a plan is kept whole or not at all",
  (template) => planCheckpointShape(template, world),
  { sampled: 1 },
);
defineSweep(
  "a restore of such a plan brings all back or nothing",
  (template) => planRestoreShape(template, world),
  { sampled: 1, hasChildren: true },
);
defineSweep(
  "a clean-up after such a commit can always be finished",
  (template) => planCleanupShape(template, world),
  { sampled: 1 },
);
