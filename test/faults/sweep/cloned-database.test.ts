import { afterAll, beforeAll } from "vitest";
import { PostgresServer } from "../../support/postgres-server.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { createTempFolder } from "../../support/temp.ts";
import { definePlanSweeps } from "../define-plan-sweeps.ts";
import { clonedPostgres } from "../mixed/cloned-postgres.ts";
import { DIRECTORY } from "../mixed/directories.ts";
import { repository } from "../mixed/repository.ts";
import { mixedWorld } from "../mixed/world.ts";
import type { WorldOfSandboxes } from "../shapes/plan.ts";

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

definePlanSweeps("a directory, a repository and a database that a command edited", () => world);
