import { afterAll, beforeAll } from "vitest";
import { PostgresServer } from "../../support/postgres-server.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { createTempFolder } from "../../support/temp.ts";
import type { WorldOfSandboxes } from "../shapes/plan.ts";
import { DIRECTORIES } from "./directories.ts";
import { postgres } from "./postgres.ts";
import { repository } from "./repository.ts";
import { mixedWorld } from "./world.ts";

const MINUTE = 60_000;

/** A plan over every kind of resource, with one server for all tests of a file; made before the first of them. */
export function useMixedWorld(): () => WorldOfSandboxes {
  let world: WorldOfSandboxes | undefined;
  let server: PostgresServer | undefined;
  let folder = "";
  beforeAll(async () => {
    folder = createTempFolder();
    // Here processes die, never the power: what a server has written stays written.
    server = await PostgresServer.start({ fsync: "off" });
    world = mixedWorld([...DIRECTORIES, repository(folder), postgres(server)]);
  }, MINUTE);
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    removeFolder(folder);
  });
  return () => {
    if (world === undefined) throw new Error("the world is made before the first test");
    return world;
  };
}
