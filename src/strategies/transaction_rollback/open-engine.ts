import { SandboxCreationError } from "../../errors/index.ts";
import { closestName } from "../../model/closest-name.ts";
import { Connection, type ConnectionSetting } from "./connection.ts";
import type { DatabaseEngine, EngineContext } from "./engine.ts";
import { MariadbEngine } from "./mariadb/engine.ts";
import { PostgresEngine } from "./postgres/engine.ts";
import { SqliteEngine } from "./sqlite/engine.ts";

/** The kinds of servers by the scheme of their URLs. */
const ENGINES: Readonly<
  Record<string, (connection: Connection, context: EngineContext) => DatabaseEngine>
> = {
  mariadb: (connection, { identity }) => new MariadbEngine(connection, identity),
  mysql: (connection, { identity }) => new MariadbEngine(connection, identity),
  postgres: (connection, { identity }) => new PostgresEngine(connection, identity),
  postgresql: (connection, { identity }) => new PostgresEngine(connection, identity),
  sqlite: (connection, context) => new SqliteEngine(connection, context),
};

/**
 * The server behind the name of a configured connection.
 * @throws SandboxCreationError (`SANDBOX_CREATION`, stage `connection` or `engine`).
 */
export function openEngine(
  name: string,
  connections: ReadonlyMap<string, ConnectionSetting>,
  context: EngineContext,
): DatabaseEngine {
  const setting = connections.get(name);
  if (setting === undefined) {
    const meant = closestName(name, [...connections.keys()]);
    throw creationError(
      "connection",
      `There is no connection ${JSON.stringify(name)} in the configuration`,
      meant === null ? "Add it under connections." : `Did you mean ${meant}?`,
    );
  }
  const connection = new Connection(name, setting);
  const make = ENGINES[connection.scheme];
  if (make !== undefined) return make(connection, context);
  throw creationError(
    "engine",
    `The connection ${name} is to a ${connection.scheme} database, which has no sandboxes yet`,
    `Use one of ${Object.keys(ENGINES).join(", ")}.`,
  );
}

function creationError(stage: string, message: string, hint: string): SandboxCreationError {
  const data = { stage, residue: [] };
  return new SandboxCreationError(message, { data, operation: "create", hint });
}
