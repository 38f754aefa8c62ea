import { createHash } from "node:crypto";
import type { Client, QueryResult } from "pg";
import { DatabaseError, PlatformUnsupportedError } from "../../../errors/index.ts";
import type { Connection } from "../connection.ts";
import { CONNECT_MS, KeptSession, type SessionSource, openSession } from "../sql/kept-session.ts";
import { ADVICE_HELD, unreachable } from "../sql/server-errors.ts";

/** Rows as the server writes them: every value is text. */
export type TextRow = Readonly<Record<string, string | null>>;

/** Whether an open connection keeps the process from ending, and its socket; its published types leave these out. */
interface Inside {
  ref(): void;
  unref(): void;
  readonly connection: { readonly stream: { destroy(reason: Error): void } };
}

const LOCK_MS = 10_000;
const BE =
  "SELECT set_config('application_name', $1, false), pg_current_xact_id_if_assigned()::text AS number";
/** Classes of errors that say that the connection, or the server, is gone. */
const LOST = /^(08|57P0)/;
/** Not let go in time, and a deadlock. */
const HELD: ReadonlySet<string> = new Set(["55P03", "40P01"]);

/** One connection. */
export class Session extends KeptSession {
  readonly #client: Client & Inside;
  /** Whether a transaction may be open, or a lock be held. */
  #mayHoldSomething = true;
  /** Settles when nothing of the last call is left in the session. */
  #forgotten: Promise<unknown> = Promise.resolve();

  private constructor(client: Client, answerMs: number) {
    super(answerMs);
    this.#client = client as Client & Inside;
  }

  /**
   * Connects, or takes a connection that was kept.
   * @throws DatabaseError (`DATABASE`, reason `unreachable`), PlatformUnsupportedError without the client library.
   */
  static open(source: SessionSource<Session>, which: "new" | "any" = "any"): Promise<Session> {
    return openSession(source, which, (address) => Session.#connect(source.connection, address));
  }

  static async #connect(connection: Connection, address: string): Promise<Session> {
    const { Client } = await loadClient();
    let client: Client | null = null;
    try {
      client = new Client({
        connectionString: address,
        application_name: applicationName(""),
        connectionTimeoutMillis: Math.min(CONNECT_MS, connection.answerMs),
        keepAlive: true,
        keepAliveInitialDelayMillis: CONNECT_MS,
        types: { getTypeParser: () => (value: string | null) => value },
        options: `-c lock_timeout=${LOCK_MS} -c standard_conforming_strings=on -c client_encoding=UTF8`,
      });
      // A connection that is cut while nobody waits for an answer is told by the next call.
      client.on("error", () => undefined);
      await client.connect();
      return new Session(client, connection.answerMs);
    } catch (cause) {
      await client?.end().catch(() => undefined);
      throw unreachable(connection, cause, sqlStateOf(cause));
    }
  }

  /**
   * Gives the connection another name in the list of the server, and tells the number of its transaction; null when that
   * has changed nothing yet.
   */
  async be(purpose: string): Promise<string | null> {
    const [row] = await this.ask(BE, [applicationName(purpose)]);
    return row?.["number"] ?? null;
  }

  /** Lets the process end although the connection is open; the next statement waits for its answer all the same. */
  rest(): void {
    this.#client.unref();
  }

  /** Runs one statement; the server itself refuses a second one in it. */
  async run(text: string, values: readonly unknown[] = []): Promise<readonly TextRow[]> {
    return (await this.#query(text, values)).rows;
  }

  /** Runs one statement that is quick where the server answers at all. */
  ask(text: string, values: readonly unknown[] = []): Promise<readonly TextRow[]> {
    return this.answered(this.run(text, values));
  }

  /** Runs one statement and tells how many rows it says that it changed. */
  async count(text: string, values: readonly unknown[] = []): Promise<number> {
    return (await this.#query(text, values)).rowCount ?? 0;
  }

  #query(text: string, values: readonly unknown[]): Promise<QueryResult<TextRow>> {
    this.#client.ref();
    this.#mayHoldSomething = true;
    const query = { text, values: [...values], queryMode: "extended" };
    return this.#client.query<TextRow>(query);
  }

  /** Says that the last statement ended its transaction: nobody has to wait for a rollback then. */
  hasNothingOpen(): void {
    this.#mayHoldSomething = false;
  }

  async end(): Promise<void> {
    // Somebody waits for this, so the process must not end before.
    this.#client.ref();
    // The server rolls back what is open; a connection that is lost already has nothing more to close.
    await this.answered(this.#client.end(), CONNECT_MS).catch(() => undefined);
  }

  protected cut(reason: Error): void {
    this.#client.connection.stream.destroy(reason);
  }

  protected async forget(): Promise<void> {
    if (this.#mayHoldSomething) await this.run("ROLLBACK");
    // Nobody has to wait for the rest: the next call comes after it, or is told.
    this.#forgotten = this.run("DISCARD ALL");
    this.#forgotten.catch(() => undefined);
  }

  protected async beReady(): Promise<void> {
    // What it still does was nobody's affair; now somebody waits for it, and the process must not end before.
    this.#client.ref();
    await this.#forgotten;
    await this.run("SELECT 1");
  }
}

/** The name under which the server lists a connection. */
export function applicationName(purpose: string): string {
  if (purpose === "") return "cofferdam";
  return `cofferdam ${createHash("sha256").update(purpose).digest("hex").slice(0, 32)}`;
}

/** The server's code of an error; null when it is not the server's. */
export function sqlStateOf(thrown: unknown): string | null {
  if (!(thrown instanceof Error) || !("code" in thrown)) return null;
  return typeof thrown.code === "string" && /^[0-9A-Z]{5}$/.test(thrown.code) ? thrown.code : null;
}

/** What the server says of an error besides its message. */
export function toldBesides(thrown: unknown): { readonly detail: string; readonly advice: string } {
  const { detail, hint } = thrown as { readonly detail?: unknown; readonly hint?: unknown };
  const isTold = sqlStateOf(thrown) !== null;
  return {
    detail: isTold && typeof detail === "string" ? detail : "",
    advice: isHeld(thrown) ? ADVICE_HELD : isTold && typeof hint === "string" ? hint : "",
  };
}

/** Whether an error says that somebody else holds what was wanted. */
export function isHeld(thrown: unknown): boolean {
  return HELD.has(sqlStateOf(thrown) ?? "");
}

/** Whether an error says that the connection is gone. */
export function isLost(thrown: unknown): boolean {
  const state = sqlStateOf(thrown);
  return state === null ? !(thrown instanceof DatabaseError) : LOST.test(state);
}

async function loadClient(): Promise<{ readonly Client: typeof Client }> {
  try {
    return (await import("pg")).default;
  } catch (cause) {
    throw new PlatformUnsupportedError("The client library for PostgreSQL is not installed", {
      data: { what: "pg", reason: "the package cannot be loaded" },
      hint: "npm install pg",
      cause,
    });
  }
}
