import { afterAll, beforeAll } from "vitest";
import { DatabaseProxy } from "../../support/database-proxy.ts";
import { PostgresServer } from "../../support/postgres-server.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { createTempFolder } from "../../support/temp.ts";
import type { WorldOfSandboxes } from "../shapes/plan.ts";
import { DIRECTORIES } from "./directories.ts";
import type { WorldMember } from "./member.ts";
import { type PostgresMember, postgres } from "./postgres.ts";
import { type RepositoryMember, repository } from "./repository.ts";
import { mixedWorld } from "./world.ts";

const MINUTE = 60_000;

/** A plan over every kind of resource, with what its databases need. */
export interface Mixed {
  readonly world: WorldOfSandboxes;
  readonly directories: readonly WorldMember[];
  readonly git: RepositoryMember;
  readonly database: PostgresMember;
  readonly server: PostgresServer;
  /** Stands between the sandboxes and the server. */
  readonly proxy: DatabaseProxy;
}

/** The resources that all tests of a file share; made before the first of them. */
export function useMixed(): () => Mixed {
  let mixed: Mixed | undefined;
  let server: PostgresServer | undefined;
  let proxy: DatabaseProxy | undefined;
  let folder = "";
  beforeAll(async () => {
    folder = createTempFolder();
    // Here processes die, never the power: what a server has written stays written.
    server = await PostgresServer.start({ fsync: "off" });
    proxy = await DatabaseProxy.start(server);
    const [git, database] = [repository(folder), postgres(server, proxy.port)];
    // One more kind of database is one more entry here.
    const world = mixedWorld([...DIRECTORIES, git, database]);
    mixed = { world, directories: DIRECTORIES, git, database, server, proxy };
  }, MINUTE);
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    removeFolder(folder);
  });
  return () => {
    if (mixed === undefined) throw new Error("the resources are made before the first test");
    return mixed;
  };
}
