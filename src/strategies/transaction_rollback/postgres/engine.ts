import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { describeThrown } from "../../../errors/index.ts";
import type { Connection } from "../connection.ts";
import {
  type DatabaseCloneCalls,
  type DatabaseEngine,
  type Direction,
  type PrepareDetails,
  type RecordedStatements,
  type ServerFacts,
  beforeSending,
} from "../engine.ts";
import type { IdlePool } from "../idle-pool.ts";
import type { LoggedWrite } from "../log-entry.ts";
import { HeldSessions } from "../sql/held-sessions.ts";
import type { SessionSource } from "../sql/kept-session.ts";
import { notEnded, otherDatabase, requireFit, requireRow } from "../sql/server-errors.ts";
import { splitStatements } from "../sql/split-statements.ts";
import { notOneQuery } from "../sql/statement-errors.ts";
import { BegunSession } from "./begun-session.ts";
import { failed } from "./capture.ts";
import { classifyStatement } from "./classify-statement.ts";
import { cloneCalls } from "./clone-calls.ts";
import { POSTGRES } from "./lexis.ts";
import { recordScript } from "./record.ts";
import { redo } from "./redo.ts";
import { presentKey } from "./row-address.ts";
import { Session, type TextRow, applicationName, isLost, sqlStateOf } from "./session.ts";

const QUERY =
  /^\s*(?:--[^\n]*\n\s*|\/\*[\s\S]*?\*\/\s*)*(?:select|with|values|table|explain|show|\()/i;
/** Questions that cannot be part of another one. */
const ALONE = /^(EXPLAIN|SHOW)\b/;
const UNDEFINED_OBJECT = "42704";
const UNIQUE_VIOLATION = "23505";
/** Where the decisions of transactions stand that could not be prepared. */
const DECISIONS = "cofferdam.decisions";
/** Whether the role may make that table, or use the one that is there. */
const MAY_DECIDE = `
  SELECT CASE
    WHEN c.oid IS NOT NULL THEN has_schema_privilege(n.oid, 'USAGE')
      AND has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
      AND has_table_privilege(c.oid, 'DELETE')
    ELSE has_database_privilege(current_database(), 'CREATE')
      AND (n.oid IS NULL OR (has_schema_privilege(n.oid, 'USAGE') AND has_schema_privilege(n.oid, 'CREATE'))) END
  FROM (VALUES ('cofferdam', 'decisions')) named (schema, name)
  LEFT JOIN pg_namespace n ON n.nspname = named.schema
  LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = named.name`;
const MAKE_DECISIONS = [
  "CREATE SCHEMA IF NOT EXISTS cofferdam",
  `CREATE TABLE IF NOT EXISTS ${DECISIONS} (name text PRIMARY KEY, decision text NOT NULL, at timestamptz NOT NULL DEFAULT now())`,
];
/** Others are published as soon as this commit is told; a prepared one is on disk whatever the setting. */
const WAIT_FOR_DISK =
  "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'";
const PATIENCE_MS = 10_000;
const IDENTITY = `(SELECT system_identifier::text FROM pg_control_system()) || ':'
  || (SELECT oid::text FROM pg_database WHERE datname = current_database())`;
const LISTED = "SELECT 1 FROM pg_prepared_xacts WHERE gid = $1 AND database = current_database()";
/** The connections that may still be about to prepare: of a process that is dead, or that gave up waiting. */
const OTHERS = "FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()";

/** PostgreSQL: transactional schema changes, prepared transactions, exact row images. */
export class PostgresEngine implements DatabaseEngine {
  readonly #connection: Connection;
  readonly #expected: string | null;
  readonly #source: SessionSource<Session>;
  /** A new connection would cost more than to settle. */
  readonly #held = new HeldSessions<Session>();

  /**
   * `expected` is the identity of the database that the log was made on; null while there is no log. `idle` keeps
   * connections between calls; without it none is kept.
   */
  constructor(
    connection: Connection,
    expected: string | null,
    idle: IdlePool<Session> | null = null,
  ) {
    this.#connection = connection;
    this.#expected = expected;
    this.#source = { connection, idle };
  }

  async inspect(): Promise<ServerFacts> {
    await using session = await Session.open(this.#source, "new");
    const [facts = {}] = await session.run(
      `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version,
         current_database() AS database, current_setting('max_prepared_transactions') AS prepared,
         current_setting('track_counts') AS counts, pg_is_in_recovery() AS standby,
         has_database_privilege(current_database(), 'TEMP') AS temp, (${MAY_DECIDE}) AS decides,
         ${IDENTITY} AS identity`,
    );
    requireFit(this.#connection, [
      [Number(facts["number"]) < 130_000, "is older than 13", "Use PostgreSQL 13 or newer."],
      [facts["standby"] === "t", "is a standby", "Connect to the primary."],
      [facts["counts"] !== "on", "does not count rows", "Set track_counts = on."],
      [facts["temp"] !== "t", "grants no temporary tables", "Grant TEMPORARY on the database."],
      [
        facts["prepared"] === "0" && facts["decides"] !== "t",
        "prepares no transactions, and its role has no rights to a table of decisions",
        `Set max_prepared_transactions above zero; or grant CREATE on the database, or, where another role has made ${DECISIONS}, USAGE on its schema and SELECT, INSERT and DELETE on it.`,
      ],
    ]);
    const { version, database, identity } = facts;
    return {
      engine: "postgres",
      version: version ?? "",
      database: database ?? "",
      identity: digest(identity ?? ""),
      canPrepare: facts["prepared"] !== "0",
    };
  }

  get clone(): DatabaseCloneCalls {
    return cloneCalls({
      connection: this.#connection,
      enter: () => this.#begin([]),
      release: () => this.release(),
    });
  }

  async record(log: readonly LoggedWrite[], script: string): Promise<RecordedStatements> {
    const statements = splitStatements(script, POSTGRES);
    // All of them before the first one runs.
    for (const statement of statements) classifyStatement(statement);
    return recordScript(() => this.#begin([]), log, statements);
  }

  async read(log: readonly LoggedWrite[], query: string): Promise<string> {
    await using session = await this.#begin(log);
    await session.run("SET TRANSACTION READ ONLY");
    if (!QUERY.test(query)) return requireRow(await presentKey(session, query), query);
    const [statement, second] = splitStatements(query, POSTGRES);
    if (statement === undefined || second !== undefined) throw notOneQuery();
    try {
      if (ALONE.test(statement.bare)) return jsonLines(await session.run(statement.text));
      const rows = await session.run(
        `SELECT row_to_json(cofferdam)::text AS row FROM (${statement.text}\n) cofferdam`,
      );
      return `[${rows.map(({ row }) => row ?? "null").join(",\n ")}]\n`;
    } catch (cause) {
      throw failed(statement, cause);
    }
  }

  async attempt(log: readonly LoggedWrite[], direction: Direction): Promise<void> {
    await using session = await this.#begin(log, direction);
    await session.run("SET CONSTRAINTS ALL IMMEDIATE");
  }

  begin(log: readonly LoggedWrite[], direction: Direction): BegunSession {
    return new BegunSession(this.#begin(log, direction));
  }

  async prepare(
    log: readonly LoggedWrite[],
    direction: Direction,
    name: string,
    { begun, noted }: PrepareDetails = {},
  ): Promise<string | null> {
    const [session, transaction] = await beforeSending(async () => {
      const opened = await (begun instanceof BegunSession
        ? begun.take()
        : this.#begin(log, direction));
      return withSession(opened, async () => {
        // Under this name the connection is found, and ended, by whoever has to know that nothing will be prepared.
        const number = await opened.be(name);
        await opened.run("SET CONSTRAINTS ALL IMMEDIATE");
        await noted;
        return [opened, number] as const;
      });
    });
    await withSession(session, () => session.ask(`PREPARE TRANSACTION ${literal(name)}`));
    this.#held.hold(name, session);
    return transaction;
  }

  async hasCommitted(transaction: string): Promise<boolean> {
    await using session = await this.#open();
    const [row] = await session.ask("SELECT pg_xact_status($1::xid8) AS status", [transaction]);
    return row?.["status"] === "committed";
  }

  async isPrepared(name: string): Promise<boolean> {
    const isListed = async (session: Session): Promise<boolean> =>
      (await session.ask(LISTED, [name])).length > 0;
    if (await this.#held.ask(name, isListed)) return true;
    await using session = await this.#open();
    await endOthers(session, name);
    return await isListed(session);
  }

  async settle(name: string, decision: "COMMIT" | "ROLLBACK"): Promise<boolean> {
    await using session = this.#held.take(name) ?? (await this.#open());
    try {
      await session.ask(`${decision} PREPARED ${literal(name)}`);
      session.hasNothingOpen();
      return true;
    } catch (thrown) {
      // Settled before, or by another; only the list tells, never the code.
      if (sqlStateOf(thrown) !== UNDEFINED_OBJECT) throw thrown;
      if ((await session.ask(LISTED, [name])).length > 0) throw thrown;
      return false;
    }
  }

  async commitMarked(
    log: readonly LoggedWrite[],
    direction: Direction,
    name: string,
  ): Promise<void> {
    await using session = await beforeSending(async () => {
      await this.#makeDecisions();
      const opened = await this.#begin(log, direction);
      return withSession(opened, async () => {
        await opened.be(name);
        await opened.run("SET CONSTRAINTS ALL IMMEDIATE");
        await opened.ask(WAIT_FOR_DISK);
        const decision = `INSERT INTO ${DECISIONS} (name, decision) VALUES ($1, 'COMMIT')`;
        await opened.ask(decision, [name]);
        return opened;
      });
    });
    await session.ask("COMMIT");
  }

  async decide(name: string, propose: "ABORT"): Promise<"COMMIT" | "ABORT"> {
    await this.#makeDecisions();
    await using session = await this.#open();
    await endOthers(session, name);
    await session.ask(
      `INSERT INTO ${DECISIONS} (name, decision) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
      [name, propose],
    );
    return (await decisionIn(session, name)) ?? propose;
  }

  async decisionOf(name: string): Promise<"COMMIT" | "ABORT" | null> {
    await this.#makeDecisions();
    await using session = await this.#open();
    return await decisionIn(session, name);
  }

  async forgetDecision(name: string): Promise<void> {
    await using session = await this.#open();
    await session.ask(`DELETE FROM ${DECISIONS} WHERE name = $1`, [name]);
  }

  /** The table of decisions stays; it is empty unless something is under way. */
  async #makeDecisions(): Promise<void> {
    await using session = await this.#open();
    const [found] = await session.ask("SELECT to_regclass($1) AS name", [DECISIONS]);
    if ((found?.["name"] ?? null) !== null) return;
    for (const statement of MAKE_DECISIONS) {
      try {
        await session.run(statement);
      } catch (thrown) {
        // Two who make it at the same time get in each other's way.
        if (sqlStateOf(thrown) !== UNIQUE_VIOLATION) throw thrown;
      }
    }
  }

  isLost(thrown: unknown): boolean {
    return isLost(thrown);
  }

  async release(): Promise<void> {
    await this.#source.idle?.clear(this.#connection.name);
  }

  #open(): Promise<Session> {
    return Session.open(this.#source);
  }

  /** Opens a transaction that shows the database as the log leaves it. */
  async #begin(log: readonly LoggedWrite[], direction: Direction = "forward"): Promise<Session> {
    const session = await this.#open();
    return withSession(session, async () => {
      await this.#enter(session);
      await redo(session, log, direction);
      return session;
    });
  }

  async #enter(session: Session): Promise<void> {
    await session.ask("BEGIN ISOLATION LEVEL READ COMMITTED");
    await this.#requireSame(session);
  }

  /** A connection may have been pointed elsewhere since the sandbox was made. */
  async #requireSame(session: Session): Promise<void> {
    if (this.#expected === null) return;
    if (session.identity === null) {
      const [row] = await session.ask(`SELECT ${IDENTITY} AS identity`);
      session.identity = digest(row?.["identity"] ?? "");
    }
    if (session.identity === this.#expected) return;
    throw otherDatabase(this.#connection);
  }
}

/** Does work with a session that stays open unless it fails. */
async function withSession<T>(session: Session, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    await session[Symbol.asyncDispose]();
    throw thrown;
  }
}

function jsonLines(rows: readonly TextRow[]): string {
  return `[${rows.map((row) => JSON.stringify(row)).join(",\n ")}]\n`;
}

/** Waits until nobody can prepare the transaction any more, so that the list tells the truth. */
async function endOthers(session: Session, name: string): Promise<void> {
  const own = [applicationName(name)];
  await session.ask(`SELECT pg_terminate_backend(pid) ${OTHERS}`, own);
  const latest = Date.now() + PATIENCE_MS;
  while ((await session.ask(`SELECT 1 ${OTHERS}`, own)).length > 0) {
    if (Date.now() > latest) throw notEnded();
    await pause(20);
  }
}

async function decisionIn(session: Session, name: string): Promise<"COMMIT" | "ABORT" | null> {
  const [row] = await session.ask(`SELECT decision FROM ${DECISIONS} WHERE name = $1`, [name]);
  const decision = row?.["decision"];
  return decision === "COMMIT" || decision === "ABORT" ? decision : null;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Names of transactions are given as literals; ours have harmless characters only. */
function literal(name: string): string {
  if (!/^[\w:.-]{1,199}$/.test(name)) throw new Error(`${describeThrown(name)} is no name`);
  return `'${name}'`;
}
