import { afterAll, beforeAll } from "vitest";
import { DatabaseProxy } from "../../support/database-proxy.ts";
import type { DatabaseServer } from "../../support/database-server.ts";
import { MariadbServer } from "../../support/mariadb-server.ts";
import { PostgresServer } from "../../support/postgres-server.ts";

/** A kind of server with the words that it has for what all of them can do. */
export interface ServerKind {
  readonly name: string;
  start(): Promise<DatabaseServer>;
  /** Begins, ends and settles the first phase. */
  readonly begin: string;
  readonly prepare: string;
  readonly commit: string;
  /** Makes the client's session give up soon when something is locked. */
  readonly impatiently: string;
  /** Drops a table that others refer to. */
  drop(table: string): string;
}

/** PostgreSQL alone, for what only it has. */
export const POSTGRES: ServerKind = {
  name: "PostgreSQL",
  start: () => PostgresServer.start(),
  begin: "SET CONSTRAINTS",
  prepare: "PREPARE TRANSACTION",
  commit: "COMMIT PREPARED",
  impatiently: "SET lock_timeout = '1ms'",
  drop: (table) => `DROP TABLE ${table} CASCADE`,
};

/** MariaDB alone, for what only it has. */
export const MARIADB: ServerKind = {
  name: "MariaDB",
  start: () => MariadbServer.start(),
  begin: "XA START",
  prepare: "XA PREPARE",
  commit: "XA COMMIT",
  impatiently: "SET innodb_lock_wait_timeout = 1",
  drop: (table) => `SET foreign_key_checks = 0; DROP TABLE ${table}`,
};

/** The kinds of servers that can prepare. */
export const SERVERS: readonly ServerKind[] = [POSTGRES, MARIADB];

/** A running server with a proxy before it. */
export interface Running {
  readonly server: DatabaseServer;
  readonly proxy: DatabaseProxy;
}

/** Starts a server and a proxy before the tests of a suite, and ends them after. */
export function runServer(kind: ServerKind): Running {
  let running: Running | null = null;
  beforeAll(async () => {
    const server = await kind.start();
    running = { server, proxy: await DatabaseProxy.start(server) };
  });
  afterAll(async () => {
    await running?.proxy[Symbol.asyncDispose]();
    await running?.server[Symbol.asyncDispose]();
  });
  const started = (): Running => {
    if (running === null) throw new Error("not before the tests");
    return running;
  };
  return {
    get server() {
      return started().server;
    },
    get proxy() {
      return started().proxy;
    },
  };
}
