import { DatabaseError } from "cofferdam";
import { Client, escapeIdentifier, escapeLiteral } from "pg";

/** Codes of the server. */
export const OBJECT_IN_USE = "55006";
const INSUFFICIENT_PRIVILEGE = "42501";
const DISK_FULL = "53100";
const CONNECT_MS = 10_000;

const HINTS: Readonly<Record<string, string>> = {
  [OBJECT_IN_USE]: "End the connections to it, then try again.",
  [INSUFFICIENT_PRIVILEGE]:
    "The role of the connection needs CREATEDB and has to own the database, or be a superuser.",
  [DISK_FULL]: "Clones need the room of the database twice: make room, then try again.",
};

/** One connection to a server, to make and drop databases. Whoever opens it disposes it. */
export class Server implements AsyncDisposable {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  /** @throws DatabaseError (`DATABASE`, reason `unreachable`). */
  static async connect(url: string): Promise<Server> {
    const client = new Client({
      connectionString: url,
      application_name: "cofferdam clones",
      connectionTimeoutMillis: CONNECT_MS,
    });
    // A connection that is cut while nobody waits for an answer is told by the next statement.
    client.on("error", () => undefined);
    try {
      await client.connect();
      return new Server(client);
    } catch (cause) {
      await client.end().catch(() => undefined);
      throw failure("The server of the clones cannot be reached", cause, "unreachable");
    }
  }

  /**
   * Runs one statement.
   * @throws DatabaseError (`DATABASE`) with the server's own code.
   */
  async run(
    statement: string,
    values: readonly unknown[] = [],
  ): Promise<readonly Readonly<Record<string, unknown>>[]> {
    try {
      const { rows } = await this.#client.query<Record<string, unknown>>(statement, [...values]);
      return rows;
    } catch (cause) {
      throw failure(`The server refused ${statement.split(" ", 2).join(" ")}`, cause, "failed");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end().catch(() => undefined);
  }
}

/** A name as the server takes it in a statement. */
export const quoted = (name: string): string => escapeIdentifier(name);
/** A text as the server takes it in a statement. */
export const literal = (text: string): string => escapeLiteral(text);

/** Whether the server said this code. */
export function isCode(thrown: unknown, code: string): boolean {
  return thrown instanceof DatabaseError && thrown.data.sqlState === code;
}

/** An error of the family for what a server, or a program for it, said. */
export function failure(
  what: string,
  cause: unknown,
  reason: "failed" | "unreachable",
  hint?: string,
): DatabaseError {
  const code = cause instanceof Error && "code" in cause ? cause.code : null;
  const sqlState = typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : null;
  const said = cause instanceof Error ? cause.message : String(cause);
  return new DatabaseError(`${what}: ${said}`, {
    data: { reason, position: null, command: null, sqlState },
    operation: "getPath",
    hint: hint ?? HINTS[sqlState ?? ""] ?? "Nothing of the real database was changed.",
    cause,
  });
}
