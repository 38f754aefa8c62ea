import { afterAll, beforeAll } from "vitest";
import { DatabaseProxy } from "../../support/database-proxy.ts";
import type { DatabaseServer } from "../../support/database-server.ts";
import { MariadbServer } from "../../support/mariadb-server.ts";
import { PostgresServer } from "../../support/postgres-server.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { createTempFolder } from "../../support/temp.ts";
import type { WorldOfSandboxes } from "../shapes/plan.ts";
import type { DatabaseMember } from "./database.ts";
import { DIRECTORIES } from "./directories.ts";
import { mariadb } from "./mariadb.ts";
import type { WorldMember } from "./member.ts";
import { postgres } from "./postgres.ts";
import { type RepositoryMember, repository } from "./repository.ts";
import { sqlite } from "./sqlite.ts";
import { mixedWorld } from "./world.ts";

const MINUTE = 60_000;
// Here processes die, never the power: what a server has written stays written.
const POSTGRES = { fsync: "off" } as const;
const MARIADB = "--innodb-flush-log-at-trx-commit=2";

/** A server with its database in a plan. */
export interface Served {
  readonly member: DatabaseMember;
  readonly server: DatabaseServer;
  /** Stands between the sandboxes and the server. */
  readonly proxy: DatabaseProxy;
}

/** The kinds of servers. */
export const SERVERS = ["PostgreSQL", "MariaDB"] as const;
/** The kinds of databases. */
export const DATABASES = [...SERVERS, "SQLite"] as const;

/** Plans over every kind of resource, with what their databases need. */
export interface Mixed {
  /** Every kind; SQLite cannot prepare, so its commit is the decision. */
  readonly world: WorldOfSandboxes;
  /** Those kinds that can prepare, so that the decision is a name in the state directory. */
  readonly preparing: WorldOfSandboxes;
  readonly members: readonly WorldMember[];
  readonly git: RepositoryMember;
  readonly databases: Readonly<Record<(typeof DATABASES)[number], DatabaseMember>>;
  readonly served: Readonly<Record<(typeof SERVERS)[number], Served>>;
}

/** The resources that all tests of a file share; made before the first of them. */
export function useMixed(): () => Mixed {
  let mixed: Mixed | undefined;
  let folder = "";
  const started: AsyncDisposable[] = [];
  const behindProxy = async (server: DatabaseServer): Promise<DatabaseProxy> => {
    started.push(server);
    const proxy = await DatabaseProxy.start(server);
    started.push(proxy);
    return proxy;
  };
  beforeAll(async () => {
    folder = createTempFolder();
    const [first, second] = [
      await PostgresServer.start(POSTGRES),
      await MariadbServer.start(MARIADB),
    ];
    const proxies = [await behindProxy(first), await behindProxy(second)] as const;
    const served = {
      PostgreSQL: {
        server: first,
        proxy: proxies[0],
        member: postgres(first, proxies[0].port),
      },
      MariaDB: { server: second, proxy: proxies[1], member: mariadb(second, proxies[1].port) },
    };
    const git = repository(folder);
    const preparing = [...DIRECTORIES, git, served.PostgreSQL.member, served.MariaDB.member];
    mixed = {
      world: mixedWorld([...preparing, sqlite]),
      preparing: mixedWorld(preparing),
      members: [...preparing, sqlite],
      git,
      databases: {
        PostgreSQL: served.PostgreSQL.member,
        MariaDB: served.MariaDB.member,
        SQLite: sqlite,
      },
      served,
    };
  }, 2 * MINUTE);
  afterAll(async () => {
    for (const one of started.toReversed()) await one[Symbol.asyncDispose]();
    removeFolder(folder);
  });
  return () => {
    if (mixed === undefined) throw new Error("the resources are made before the first test");
    return mixed;
  };
}
