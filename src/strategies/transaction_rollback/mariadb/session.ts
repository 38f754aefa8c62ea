import type { Socket } from "node:net";
import type { Connection as Client, FieldPacket, RowDataPacket } from "mysql2/promise";
import { DatabaseError, PlatformUnsupportedError } from "../../../errors/index.ts";
import type { Connection } from "../connection.ts";
import { CONNECT_MS, KeptSession, type SessionSource, openSession } from "../sql/kept-session.ts";
import { tooLarge, unreachable } from "../sql/server-errors.ts";
import { targetOf } from "./target.ts";

/** Rows as the server writes them: every value is text. */
export type TextRow = Readonly<Record<string, string | null>>;

/** Rows as the server sends them, with what it says about their columns. */
export interface RawRows {
  readonly fields: readonly FieldPacket[];
  readonly rows: readonly (readonly (Buffer | null)[])[];
}

/** How a session reads and writes: as images need it, or as the server is set up for its users. */
export type SessionMode = "own" | "user";

/** Locks are awaited so many seconds. */
const LOCK_S = 10;
const SETTINGS = `SET SESSION innodb_lock_wait_timeout = ${LOCK_S}, lock_wait_timeout = ${LOCK_S}, autocommit = 1,
  foreign_key_checks = 1, unique_checks = 1, completion_type = 0`;
/** Rows and the gaps between them stay as they were found; all our reads take locks, so that they see the latest. */
const ISOLATION = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE";
/** Images have one time zone; what was stored is written again as it is, checked afterwards. */
const MODES: Readonly<Record<SessionMode, string>> = {
  own: "SET SESSION time_zone = '+00:00', sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'",
  user: "SET SESSION time_zone = DEFAULT, sql_mode = DEFAULT",
};

/** Only statements of so many characters may be more than a server takes. */
const LARGE = 2 ** 18;

/** One connection. */
export class Session extends KeptSession {
  readonly #client: Client;
  #mode: SessionMode = "user";
  #id: string | null = null;
  /** What the server takes at once, in bytes; null while nobody had to ask. */
  #limit: number | null = null;
  /** Settles when the session is set up. */
  #isSetUp: Promise<unknown> = Promise.resolve();

  private constructor(client: Client, answerMs: number) {
    super(answerMs);
    this.#client = client;
  }

  /**
   * Connects, or takes a connection that was kept.
   * @throws DatabaseError (`DATABASE`, reason `unreachable`), PlatformUnsupportedError without the client library.
   */
  static open(source: SessionSource<Session>, which: "new" | "any" = "any"): Promise<Session> {
    return openSession(source, which, (address) => Session.#connect(source.connection, address));
  }

  static async #connect(connection: Connection, address: string): Promise<Session> {
    const { createConnection } = await loadClient();
    try {
      const client = await createConnection({
        ...targetOf(address),
        charset: "utf8mb4_general_ci",
        connectTimeout: Math.min(CONNECT_MS, connection.answerMs),
        keepAliveInitialDelay: CONNECT_MS,
        // The rows that a statement changed, not those that it found.
        flags: ["-FOUND_ROWS"],
        rowsAsArray: true,
        typeCast: (field) => field.buffer(),
      });
      // A connection that is cut while nobody waits for an answer is told by the next call.
      client.on("error", () => undefined);
      return await new Session(client, connection.answerMs).#begin();
    } catch (cause) {
      throw unreachable(connection, cause, sqlStateOf(cause));
    }
  }

  async #begin(): Promise<this> {
    try {
      await this.answered(this.#setUp(), CONNECT_MS);
      return this;
    } catch (thrown) {
      await this.end();
      throw thrown;
    }
  }

  async #setUp(): Promise<void> {
    await this.#send(SETTINGS);
    await this.#send(ISOLATION);
  }

  /** Lets the process end although the connection is open; the next statement waits for its answer all the same. */
  rest(): void {
    socketOf(this.#client)?.unref();
  }

  /** Sets how values are read and written from now on. */
  async be(mode: SessionMode): Promise<void> {
    if (this.#mode === mode) return;
    await this.execute(MODES[mode]);
    this.#mode = mode;
  }

  /** The number that the server lists the connection with. */
  async id(): Promise<string> {
    this.#id ??= (await this.run("SELECT CONNECTION_ID() AS id"))[0]?.["id"] ?? "";
    return this.#id;
  }

  /** Runs one statement; the server itself refuses a second one in it. */
  async query(text: string): Promise<RawRows> {
    socketOf(this.#client)?.ref();
    return this.#send(text);
  }

  /** Also while the connection rests. */
  async #send(text: string): Promise<RawRows> {
    if (text.length >= LARGE) await this.#requireFit(text);
    const [rows, fields] = await this.#client.query<RowDataPacket[][]>(text);
    return {
      // A statement that gives no rows says what it did instead.
      fields: Array.isArray(rows) ? fields : [],
      rows: Array.isArray(rows) ? (rows as unknown as (Buffer | null)[][]) : [],
    };
  }

  /** The server would only cut the connection. */
  async #requireFit(text: string): Promise<void> {
    this.#limit ??= Number((await this.run("SELECT @@max_allowed_packet AS bytes"))[0]?.["bytes"]);
    if (Buffer.byteLength(text) >= this.#limit) throw tooLarge(this.#limit);
  }

  /** Runs one statement that gives rows of text. */
  async run(text: string): Promise<readonly TextRow[]> {
    const { fields, rows } = await this.query(text);
    return rows.map((row) =>
      Object.fromEntries(fields.map(({ name }, at) => [name, row[at]?.toString("utf8") ?? null])),
    );
  }

  /** Runs one statement that is quick where the server answers at all. */
  ask(text: string): Promise<readonly TextRow[]> {
    return this.answered(this.run(text));
  }

  /** Runs one statement for what it does. */
  async execute(text: string): Promise<void> {
    await this.query(text);
  }

  async end(): Promise<void> {
    // Somebody waits for this, so the process must not end before.
    socketOf(this.#client)?.ref();
    // The server rolls back what is open; a connection that is lost already has nothing more to close.
    await this.answered(this.#client.end(), CONNECT_MS).catch(() => undefined);
  }

  protected cut(reason: Error): void {
    socketOf(this.#client)?.destroy(reason);
  }

  protected async forget(): Promise<void> {
    await this.#client.reset();
    this.#mode = "user";
    // Nobody has to wait for this: the next call comes after it, or is told.
    this.#isSetUp = this.#setUp();
    this.#isSetUp.catch(() => undefined);
  }

  protected async beReady(): Promise<void> {
    // What it still does was nobody's affair; now somebody waits for it, and the process must not end before.
    socketOf(this.#client)?.ref();
    await this.#isSetUp;
    await this.execute("DO 1");
  }
}

/** A text as a literal, whatever is in it. */
export function literal(text: string): string {
  return `_utf8mb4 X'${Buffer.from(text, "utf8").toString("hex")}'`;
}

/** A name as it is quoted. */
export function quoted(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}

/** The server's code of an error; null when it is not the server's. */
export function sqlStateOf(thrown: unknown): string | null {
  if (!(thrown instanceof Error) || !("sqlState" in thrown)) return null;
  return typeof thrown.sqlState === "string" ? thrown.sqlState : null;
}

/** The server's number of an error; null when it is not the server's. */
export function errorNumberOf(thrown: unknown): number | null {
  if (sqlStateOf(thrown) === null || !(thrown instanceof Error) || !("errno" in thrown))
    return null;
  return typeof thrown.errno === "number" ? thrown.errno : null;
}

/** A lock that was not to be had in time, a deadlock, and a transaction that one of them ended. */
const HELD = new Set([1205, 1213, 1402, 1613, 1614]);

/** Whether an error says that somebody else holds what was wanted. */
export function isHeld(thrown: unknown): boolean {
  return HELD.has(errorNumberOf(thrown) ?? 0);
}

/** The connection was killed, or the server goes down. */
const ENDED = new Set([1053, 1927, 4031]);

/** Whether an error says that the connection is gone. */
export function isLost(thrown: unknown): boolean {
  const number = errorNumberOf(thrown);
  return number === null ? !(thrown instanceof DatabaseError) : ENDED.has(number);
}

/** The socket below a client; its published types leave it out. */
function socketOf(client: Client): Pick<Socket, "ref" | "unref" | "destroy"> | undefined {
  const { connection } = client as unknown as { readonly connection: { readonly stream?: Socket } };
  return connection.stream;
}

async function loadClient(): Promise<typeof import("mysql2/promise")> {
  try {
    return await import("mysql2/promise");
  } catch (cause) {
    throw new PlatformUnsupportedError("The client library for MariaDB is not installed", {
      data: { what: "mysql2", reason: "the package cannot be loaded" },
      hint: "npm install mysql2",
      cause,
    });
  }
}
