import type { ConnectionSetting } from "../../contract/host.ts";
import { SandboxCreationError } from "../../errors/index.ts";
import { closestName } from "../../model/closest-name.ts";
import { Connection } from "./connection.ts";
import type { DatabaseEngine, EngineContext } from "./engine.ts";
import { MariadbEngine } from "./mariadb/engine.ts";
import { PostgresEngine } from "./postgres/engine.ts";
import { SqliteEngine } from "./sqlite/engine.ts";
import type { IdlePools } from "./idle-pools.ts";

/** The kinds of servers by the scheme of their URLs. */
const ENGINES: Readonly<
  Record<
    string,
    (connection: Connection, context: EngineContext, idle: IdlePools) => DatabaseEngine
  >
> = {
  mariadb: (connection, { identity }, idle) =>
    new MariadbEngine(connection, identity, idle.mariadb),
  mysql: (connection, { identity }, idle) => new MariadbEngine(connection, identity, idle.mariadb),
  postgres: (connection, { identity }, idle) =>
    new PostgresEngine(connection, identity, idle.postgres),
  postgresql: (connection, { identity }, idle) =>
    new PostgresEngine(connection, identity, idle.postgres),
  sqlite: (connection, context, idle) => new SqliteEngine(connection, context, idle.sqlite),
};

/** What leads to a server, such as a URL. */
const ADDRESS = /\/\/|[@=]/;

/**
 * The server behind the name of a configured connection, or the file of an address such as `sqlite:/data/shop.db`, which
 * is no secret and needs no configuration; `idle` keeps what it can use again.
 * @throws SandboxCreationError (`SANDBOX_CREATION`, stage `connection` or `engine`).
 */
export function openEngine(
  name: string,
  connections: ReadonlyMap<string, ConnectionSetting>,
  context: EngineContext,
  idle: IdlePools,
): DatabaseEngine {
  const setting = connections.get(name) ?? fileSetting(name);
  if (setting === undefined) {
    // Whoever gives a URL may have given a user and a password: nothing of it is told.
    if (ADDRESS.test(name))
      throw creationError(
        "connection",
        "The location of a database is the name of a connection, not a URL",
        "Put the URL under connections in cofferdam.yaml, and give the name that it has there.",
      );
    const meant = closestName(name, [...connections.keys()]);
    throw creationError(
      "connection",
      `There is no connection ${JSON.stringify(name)} in the configuration`,
      meant === null ? "Add it under connections." : `Did you mean ${meant}?`,
    );
  }
  const connection = new Connection(name, setting);
  const make = ENGINES[connection.scheme];
  if (make !== undefined) return make(connection, context, idle);
  throw creationError(
    "engine",
    `The connection ${name} is to a ${connection.scheme} database, which has no sandboxes yet`,
    `Use one of ${Object.keys(ENGINES).join(", ")}.`,
  );
}

/** A database that is a file is its own address, so that later processes find it from the ref alone. */
function fileSetting(name: string): ConnectionSetting | undefined {
  return /^sqlite:/i.test(name) ? { url: name, passwordFile: null } : undefined;
}

function creationError(stage: string, message: string, hint: string): SandboxCreationError {
  const data = { stage, residue: [] };
  return new SandboxCreationError(message, { data, operation: "create", hint });
}
