import { createHash } from "node:crypto";
import { DatabaseError } from "../../../errors/index.ts";
import type { Connection } from "../connection.ts";
import {
  type DatabaseEngine,
  type Direction,
  DriftError,
  type PrepareDetails,
  type RecordedStatements,
  type ServerFacts,
} from "../engine.ts";
import type { IdlePool } from "../idle-pool.ts";
import type { LoggedStatement, LoggedWrite, RowEffect } from "../log-entry.ts";
import type { SessionSource } from "../sql/kept-session.ts";
import { otherDatabase, requireFit, requireRow } from "../sql/server-errors.ts";
import { splitStatements } from "../sql/split-statements.ts";
import { notOneQuery, refused } from "../sql/statement-errors.ts";
import { Capture, failed } from "./capture.ts";
import { Catalog } from "./catalog.ts";
import { requireQuestion, requireRowStatement } from "./classify-statement.ts";
import { MARIADB } from "./lexis.ts";
import { PreparedTransactions } from "./prepared-transactions.ts";
import { queryRows } from "./query-rows.ts";
import { groupsOf, redo } from "./redo.ts";
import { presentKey } from "./row-address.ts";
import { Session, errorNumberOf, isLost } from "./session.ts";

const QUERY =
  /^\s*(?:(?:--\s|#)[^\n]*\n\s*|\/\*[\s\S]*?\*\/\s*)*(?:select|with|values|explain|show|desc|describe|\()/i;
const ACCESS_DENIED = 1227;
/** In characters. */
const LARGE_ROW = 2 ** 17;
/** The first one is not known to every version. */
const IDENTITY =
  "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_uid', 'datadir', 'hostname')";

/** MariaDB: transactions that are prepared by XA, exact row images, no change of the schema. */
export class MariadbEngine implements DatabaseEngine {
  readonly #expected: string | null;
  readonly #source: SessionSource<Session>;
  readonly #open: () => Promise<Session>;
  readonly #prepared: PreparedTransactions;

  /** `expected` is the identity of the database of the log, null while there is none; `idle` keeps connections. */
  constructor(connection: Connection, expected: string | null, idle?: IdlePool<Session>) {
    this.#source = { connection, idle: idle ?? null };
    this.#expected = expected;
    this.#open = () => Session.open(this.#source);
    this.#prepared = new PreparedTransactions(this.#open);
  }

  async inspect(): Promise<ServerFacts> {
    await using session = await Session.open(this.#source, "new");
    const [facts = {}] = await session.run(
      `SELECT VERSION() AS version, DATABASE() AS name, @@read_only AS readOnly, @@sql_mode AS mode,
         @@lower_case_table_names AS lower,
         (SELECT SUPPORT FROM information_schema.ENGINES WHERE ENGINE = 'InnoDB') AS innodb`,
    );
    const version = facts["version"] ?? "";
    const [major = 0, minor = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
    const isOld = major < 10 || (major === 10 && minor < 6);
    requireFit(this.#source.connection, [
      [!/mariadb/i.test(version), "is no MariaDB", "Use MariaDB 10.6 or newer."],
      [isOld, "is older than 10.6", "Use MariaDB 10.6 or newer."],
      [facts["readOnly"] !== "0", "is read-only", "Connect to the primary."],
      [facts["name"] === null, "was given no database", "End the URL with the name of one."],
      [
        facts["lower"] !== "0",
        "takes names of tables in any case",
        "Only lower_case_table_names = 0 is supported.",
      ],
      [!/^(YES|DEFAULT)$/.test(facts["innodb"] ?? ""), "has no InnoDB", "Switch InnoDB on."],
      [
        /ANSI_QUOTES|NO_BACKSLASH_ESCAPES|ORACLE/.test(facts["mode"] ?? ""),
        "reads quotes in another way",
        "Take ANSI_QUOTES, NO_BACKSLASH_ESCAPES and ORACLE out of its sql_mode.",
      ],
      [!(await maySeeChanges(session)), "does not tell its user what changed", "Grant PROCESS."],
    ]);
    const identity = await identityOf(session);
    return {
      engine: "mariadb",
      version,
      database: facts["name"] ?? "",
      identity,
      canPrepare: true,
    };
  }

  async record(log: readonly LoggedWrite[], script: string): Promise<RecordedStatements> {
    const statements = splitStatements(script, MARIADB);
    // All of them before the first one runs.
    for (const statement of statements) requireRowStatement(statement);
    await using session = await this.#begin(log);
    const catalog = await Catalog.load(session, await databaseOf(session));
    const capture = new Capture(session, catalog);
    await session.execute("SAVEPOINT cofferdam_script");
    const done: LoggedStatement[] = [];
    for (const statement of statements) done.push(await capture.run(statement));
    await session.execute("ROLLBACK TO SAVEPOINT cofferdam_script");
    const write = { name: "", at: "", statements: done, sequences: {} };
    try {
      // A commit does the same: what could not be repeated is told now.
      if (capture.sawTriggers) await this.#repeatElsewhere(session, log, write);
      else await repeat(session, write);
    } catch (thrown) {
      const [first] = statements;
      if (!(thrown instanceof DriftError) || first === undefined) throw thrown;
      throw refused(first, "notCaptured", `it cannot be repeated row by row: ${thrown.message}`);
    }
    return { statements: done, sequences: {} };
  }

  async read(log: readonly LoggedWrite[], query: string): Promise<string> {
    await using session = await this.#begin(log);
    if (!QUERY.test(query)) return requireRow(await presentKey(session, query), query);
    const [statement, second] = splitStatements(query, MARIADB);
    if (statement === undefined || second !== undefined) throw notOneQuery();
    requireQuestion(statement);
    await session.be("user");
    try {
      return await queryRows(session, statement);
    } catch (cause) {
      throw cause instanceof DatabaseError ? cause : failed(statement, cause);
    }
  }

  async attempt(log: readonly LoggedWrite[], direction: Direction): Promise<void> {
    await using session = await this.#begin(log, direction);
    await session.execute("ROLLBACK");
  }

  async prepare(
    log: readonly LoggedWrite[],
    direction: Direction,
    name: string,
    { noted }: PrepareDetails = {},
  ): Promise<null> {
    await this.#prepared.prepare(name, async (session) => {
      await this.#requireSame(session);
      return async () => {
        await redo(session, groupsOf(log, direction));
        await noted;
      };
    });
    return null;
  }

  isPrepared(name: string): Promise<boolean> {
    return this.#prepared.isThere(name);
  }

  settle(name: string, decision: "COMMIT" | "ROLLBACK"): Promise<boolean> {
    return this.#prepared.settle(name, decision);
  }

  commitMarked(): Promise<void> {
    return Promise.reject(alwaysPrepares());
  }

  decide(): Promise<"COMMIT" | "ABORT"> {
    return Promise.reject(alwaysPrepares());
  }

  decisionOf(): Promise<null> {
    return Promise.reject(alwaysPrepares());
  }

  forgetDecision(): Promise<void> {
    return Promise.reject(alwaysPrepares());
  }

  /** Triggers that go by the clock or the connection do something else then; so another time and another one are tried. */
  async #repeatElsewhere(
    session: Session,
    log: readonly LoggedWrite[],
    write: LoggedWrite,
  ): Promise<void> {
    await session.execute("ROLLBACK");
    await using other = await this.#begin(log);
    await other.execute("SET SESSION timestamp = UNIX_TIMESTAMP() + 1000003");
    await repeat(other, write);
  }

  isLost(thrown: unknown): boolean {
    return isLost(thrown);
  }

  async release(): Promise<void> {
    const { connection, idle } = this.#source;
    await idle?.clear(connection.name);
  }

  /** Opens a transaction that shows the database as the log leaves it. */
  async #begin(log: readonly LoggedWrite[], direction: Direction = "forward"): Promise<Session> {
    const session = await this.#open();
    try {
      await this.#requireSame(session);
      await session.execute("START TRANSACTION");
      await redo(session, groupsOf(log, direction));
      return session;
    } catch (thrown) {
      await session[Symbol.asyncDispose]();
      throw thrown;
    }
  }

  /** A connection may have been pointed elsewhere since the sandbox was made. */
  async #requireSame(session: Session): Promise<void> {
    if (this.#expected === null) return;
    session.identity ??= await identityOf(session);
    if (session.identity === this.#expected) return;
    throw otherDatabase(this.#source.connection);
  }
}

async function identityOf(session: Session): Promise<string> {
  const rows = await session.run(IDENTITY);
  const facts = rows.map((row) => `${row["Variable_name"]}=${row["Value"]}`).sort();
  const parts = [facts, await databaseOf(session)];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

async function databaseOf(session: Session): Promise<string> {
  const [row] = await session.run("SELECT DATABASE() AS name");
  return row?.["name"] ?? "";
}

async function maySeeChanges(session: Session): Promise<boolean> {
  try {
    await session.execute("SHOW ENGINE INNODB STATUS");
    return true;
  } catch (thrown) {
    if (errorNumberOf(thrown) === ACCESS_DENIED) return false;
    throw thrown;
  }
}

/** A MariaDB is never asked to decide by a commit of its own. */
function alwaysPrepares(): Error {
  return new Error("MariaDB always prepares");
}

/** Whether the row before may be more than the server takes at once: an undo sends what a commit has deleted. */
function isLarge({ before }: RowEffect): boolean {
  return before !== null && before.length >= LARGE_ROW;
}

/** Applies what was just recorded, and makes sure that it can be taken back as far as the server has to be sent it. */
async function repeat(session: Session, write: LoggedWrite): Promise<void> {
  const groups = groupsOf([write]);
  await redo(session, groups);
  if (!groups.flat().some(isLarge)) return;
  try {
    await redo(session, groupsOf([write], "backward"));
  } catch (thrown) {
    // Other reasons are told when somebody wants to.
    if (!(thrown instanceof DriftError)) throw thrown;
  }
}
