import {
  DatabaseError,
  SandboxCreationError,
  SandboxPathError,
  describeThrown,
} from "../../../errors/index.ts";
import type { Connection } from "../connection.ts";

type Named = Pick<Connection, "name">;

/** What helps where a statement waited too long for others. */
export const ADVICE_HELD = "Another program holds rows or a table: try again when it is done.";

/** Classes of errors of servers that were reached, and what helps there. */
const REFUSALS: readonly (readonly [sqlState: RegExp, hint: string])[] = [
  [/^28/, "Check the user and the password of the connection in the configuration."],
  [/^(3D000|42000)$/, "Check the name of the database in the URL of the connection."],
];

/** The server does not answer, or does not let us in. */
export function unreachable(
  { name }: Named,
  cause: unknown,
  sqlState: string | null,
): DatabaseError {
  const message = `The database of the connection ${name} cannot be reached: ${describeThrown(cause)}`;
  const [, hint] = REFUSALS.find(([states]) => states.test(sqlState ?? "")) ?? [];
  return new DatabaseError(message, {
    data: { reason: "unreachable", position: null, command: null, sqlState },
    hint: hint ?? "Check that the server runs, and the connection in the configuration.",
    cause,
  });
}

/** A statement is more than the server takes at once. */
export function tooLarge(limit: number): DatabaseError {
  return new DatabaseError(
    `A statement is more than the server takes at once, ${limit} bytes (max_allowed_packet)`,
    {
      data: { reason: "failed", position: null, command: null, sqlState: null },
      hint: "Divide the statement, or set max_allowed_packet above twice the largest row: values are sent in hexadecimal digits.",
    },
  );
}

/** A connection of a transaction goes on, whatever is said to it. */
export function notEnded(): DatabaseError {
  return new DatabaseError("A connection of the transaction could not be ended", {
    data: { reason: "unreachable", position: null, command: null, sqlState: null },
    hint: "End it on the server, then run recover.",
  });
}

/** A connection was pointed elsewhere since the sandbox was made. */
export function otherDatabase({ name }: Named): DatabaseError {
  return new DatabaseError(`The connection ${name} leads to another database now`, {
    data: { reason: "otherDatabase", position: null, command: null, sqlState: null },
    hint: "Point it to the database that the sandbox was made for, or clean the sandbox up.",
  });
}

/** What a server may lack: whether it does, how that is said, and what helps. */
export type Lack = readonly [isWrong: boolean, why: string, hint: string];

/**
 * Refuses a server by the first thing that it lacks.
 * @throws SandboxCreationError (`SANDBOX_CREATION`, stage `server`).
 */
export function requireFit({ name }: Named, lacks: readonly Lack[]): void {
  const lack = lacks.find(([isWrong]) => isWrong);
  if (lack === undefined) return;
  throw new SandboxCreationError(`The server of the connection ${name} ${lack[1]}`, {
    data: { stage: "server", residue: [] },
    operation: "create",
    hint: lack[2],
  });
}

/**
 * The row that was found at an address.
 * @throws SandboxPathError (`SANDBOX_PATH`, reason `missing`) when there is none.
 */
export function requireRow(row: string | null, address: string): string {
  if (row !== null) return row;
  throw new SandboxPathError(`There is no row ${address}`, {
    data: { path: address, reason: "missing" },
    operation: "read",
    hint: "Give a query, or the path of a row as a diff shows it.",
  });
}
