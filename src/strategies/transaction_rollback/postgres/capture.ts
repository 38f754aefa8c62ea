import type { DatabaseError } from "../../../errors/index.ts";
import type { DroppedTable, LoggedStatement, RowEffect } from "../log-entry.ts";
import { tablePath } from "../row-changes.ts";
import { notCaptured } from "../sql/not-captured.ts";
import type { Statement } from "../sql/split-statements.ts";
import { type PlacedStatement, failedBy, refused } from "../sql/statement-errors.ts";
import { type CapturedEffect, chained } from "./chained-effects.ts";
import { classifyStatement } from "./classify-statement.ts";
import { endOfScript, settleWaiting } from "./deferred.ts";
import { rememberTables, tablesWithRows } from "./dropped-tables.ts";
import { heldTable } from "./held-table.ts";
import { type Session, type TextRow, isLost, sqlStateOf, toldBesides } from "./session.ts";
import { type Touched, findTable, tableOf, touchedSince, touchedTables } from "./tables.ts";
import { patternOf, targetTables } from "./target-tables.ts";
import { WatchedTables } from "./watched-tables.ts";

const OBJECT_IN_USE = "55006";
const NO_RIGHT = "42501";
/** A trigger of one table may touch the next; each round finds more of them. */
const MOST_ROUNDS = 50;
const NONE: ReadonlySet<string> = new Set();
/** So many effects are read at once; without a limit the server would rather read all there are than use the index. */
const MOST_TAKEN = 1000;
const TAKEN = `SELECT * FROM pg_temp.cofferdam_effects WHERE n > $1 ORDER BY n LIMIT ${MOST_TAKEN}`;

/** A table made by the log has another oid in each transaction. */
type TableName = Pick<RowEffect, "schema" | "table">;

/** A table that can only be watched from the beginning, because checks of its rows wait for the end. */
export class UnwatchedError extends Error {
  override readonly name = "UnwatchedError";
  override readonly cause: DatabaseError;
  readonly table: TableName;

  constructor(table: TableName, cause: DatabaseError) {
    super(cause.message);
    this.cause = cause;
    this.table = table;
  }
}

/** A statement that was run, or the tables that it touched and nobody watched. */
type Tried =
  | { readonly logged: LoggedStatement; readonly unseen: null }
  | { readonly unseen: readonly Touched[] };

/**
 * Runs statements and records what each does to every row, cascades and triggers included. A trigger of ours is put on
 * every table that a statement turns out to touch, and the statement is run again from before. The triggers take locks
 * on their tables, and temporary objects are used: the caller rolls the transaction back.
 */
export class Capture {
  readonly #session: Session;
  readonly #watched: WatchedTables;
  /** Statements as they are but for their values; the targets of these are watched, if they have any. */
  readonly #planned = new Set<string>();
  /** What was touched when the last statement had ended; null where something else came in between. */
  #touched: Awaited<ReturnType<typeof touchedTables>> | null = null;
  /** The number of the last effect that was taken. */
  #last = "0";

  constructor(session: Session) {
    this.#session = session;
    this.#watched = new WatchedTables(session);
  }

  /** The oids of the tables that are watched so far. */
  get watched(): readonly string[] {
    return [...this.#watched.oids];
  }

  /** Makes what the triggers need. */
  async prepare(): Promise<void> {
    await this.#watched.prepare();
  }

  /** Watches those of the tables that are there already, before any of their rows has changed. */
  async watchFirst(tables: Iterable<TableName>): Promise<void> {
    for (const named of tables) {
      const table = await findTable(this.#session, named);
      if (table === null || this.#watched.oids.has(table.oid)) continue;
      try {
        await this.#watched.add(table);
      } catch (cause) {
        if (sqlStateOf(cause) !== OBJECT_IN_USE) throw cause;
        const why = `The rows of ${table.name} cannot be watched: checks of them still wait`;
        throw notCaptured(why, cause, "First write the rows to which its keys refer.");
      }
    }
  }

  /** Goes on watching after somebody else's change of the schema, which may have made some of the `first` tables. */
  async keepOn(first: Iterable<TableName>): Promise<void> {
    const blind = await this.#watched.keepOn();
    if (blind !== null) throw notCaptured(`The rows of ${blind} cannot be watched any more`);
    await this.watchFirst(first);
  }

  /** Forgets what was recorded so far. */
  async forget(): Promise<void> {
    await this.#session.run("DELETE FROM pg_temp.cofferdam_effects");
  }

  /**
   * Runs one statement.
   * @throws UnwatchedError for a table that has to be watched first.
   */
  async run(statement: Statement): Promise<LoggedStatement> {
    const kind = classifyStatement(statement);
    if (kind === "schema") await this.#settle(statement);
    await this.#watchTargets(statement);
    return this.#record(statement, kind);
  }

  /**
   * Lets happen what waits for the end of a transaction and cannot wait for a later script, after the tables of
   * everything that is in the sandbox. Null when it did nothing.
   */
  async end(tables: readonly TableName[]): Promise<LoggedStatement | null> {
    const checks = await endOfScript(this.#session, tables);
    if (checks === null) return null;
    // They wait as it is; but only what was set outside of the next savepoint is taken back when the script is.
    await this.#session.run(checks.later);
    const statement = { text: checks.now, bare: "", position: 0, line: 0 };
    const logged = await this.#record(statement, "rows");
    return logged.effects.length === 0 ? null : logged;
  }

  async #settle(statement: Statement): Promise<void> {
    try {
      await settleWaiting(this.#session);
    } catch (cause) {
      throw failed(statement, cause);
    }
  }

  /** Spares the first, futile run where the tables can be told from the statement. */
  async #watchTargets(statement: Statement): Promise<void> {
    const pattern = patternOf(statement);
    if (this.#planned.has(pattern)) return;
    this.#touched = null;
    for (const oid of await targetTables(this.#session, statement))
      if (!this.#watched.oids.has(oid)) await this.#watch(statement, oid);
    this.#planned.add(pattern);
  }

  /** A savepoint for each round: what is taken back must not take the triggers of the round before along. */
  async #record(statement: Statement, kind: LoggedStatement["kind"]): Promise<LoggedStatement> {
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      await this.#session.run("SAVEPOINT cofferdam_statement");
      const tried = await this.#tried(statement, kind);
      if (tried.unseen === null) {
        // Nested savepoints would make each statement slower than the one before it.
        await this.#session.run("RELEASE SAVEPOINT cofferdam_statement");
        return tried.logged;
      }
      await this.#session.run("ROLLBACK TO SAVEPOINT cofferdam_statement");
      await this.#session.run("RELEASE SAVEPOINT cofferdam_statement");
      for (const { oid } of tried.unseen) await this.#watch(statement, oid);
    }
    throw refused(statement, "notCaptured", "its triggers touch more and more tables");
  }

  async #tried(statement: Statement, kind: LoggedStatement["kind"]): Promise<Tried> {
    const before = this.#touched ?? (await touchedTables(this.#session));
    this.#touched = null;
    const tables = kind === "schema" ? await tablesWithRows(this.#session) : NONE;
    const count = await this.#execute(statement);
    const after = await touchedTables(this.#session);
    const touched = touchedSince(before, after);
    const rows = touched.filter(({ schema }) => schema !== "pg_catalog");
    if (kind === "schema") {
      // Whatever it did to rows, it would do so once more when it is repeated.
      const filled = rows.find(({ isMaterialized }) => !isMaterialized);
      if (filled === undefined)
        return { logged: await this.#loggedSchema(statement, tables), unseen: null };
      await this.#session.run("ROLLBACK TO SAVEPOINT cofferdam_statement");
      const wasThere = (await tableOf(this.#session, filled.oid)) !== null;
      throw refused(statement, "notCaptured", wasThere ? changesAlong(filled) : FILLS);
    }
    if (rows.length < touched.length) throw refused(statement, "notCaptured", CHANGES_SCHEMA);
    const unseen = rows.filter(({ oid }) => !this.#watched.oids.has(oid));
    if (unseen.length > 0) return { unseen };
    this.#touched = after;
    return { logged: await this.#logged(statement, count), unseen: null };
  }

  async #execute(statement: Statement): Promise<number> {
    try {
      return await this.#session.count(statement.text);
    } catch (cause) {
      throw failed(statement, cause);
    }
  }

  async #watch(statement: Statement, oid: string): Promise<void> {
    const table = await tableOf(this.#session, oid);
    // Made by the very statement, and gone when it was rolled back.
    if (table === null) throw refused(statement, "notCaptured", CHANGES_SCHEMA);
    if (table.names.length === 0) {
      const why = `rows of ${tablePath(table)} cannot be recorded: the table has no columns`;
      throw refused(statement, "notCaptured", why);
    }
    try {
      await this.#watched.add(table);
    } catch (cause) {
      const held = heldTable(table, cause);
      if (held !== null) throw held;
      const owned = sqlStateOf(cause) === NO_RIGHT ? ", which takes the owner of the table" : "";
      const error = failed(
        statement,
        cause,
        `the rows of ${table.name} cannot be watched${owned}: `,
      );
      throw sqlStateOf(cause) === OBJECT_IN_USE ? new UnwatchedError(table, error) : error;
    }
  }

  /** Those of the `tables` before it that are gone have to be remembered, so it is run once more. */
  async #loggedSchema(statement: Statement, tables: ReadonlySet<string>): Promise<LoggedStatement> {
    // The same words may mean other tables now.
    this.#planned.clear();
    const left = await tablesWithRows(this.#session);
    const gone = [...tables].filter((oid) => !left.has(oid));
    let drops: readonly DroppedTable[] = [];
    if (gone.length > 0) {
      await this.#session.run("ROLLBACK TO SAVEPOINT cofferdam_statement");
      drops = await rememberTables(this.#session, gone);
      await this.#execute(statement);
    }
    const blind = await this.#watched.keepOn();
    if (blind !== null)
      throw refused(statement, "notCaptured", `the rows of ${blind} could not be watched any more`);
    const logged = { text: statement.text, kind: "schema", effects: [] } as const;
    return drops.length === 0 ? logged : { ...logged, drops };
  }

  async #logged(statement: Statement, count: number): Promise<LoggedStatement> {
    const taken = await this.#taken();
    const isChange = /^(INSERT|UPDATE|DELETE|MERGE)\b/.test(statement.bare);
    if (isChange && count > 0 && taken.length === 0)
      throw refused(statement, "notCaptured", "the rows that it changed are not in this database");
    return { text: statement.text, kind: "rows", effects: chained(taken) };
  }

  /** What the triggers have told since the last time; nothing is deleted, because every reader would pass by it. */
  async #taken(): Promise<readonly CapturedEffect[]> {
    const effects: CapturedEffect[] = [];
    for (;;) {
      const rows = await this.#session.run(TAKEN, [this.#last]);
      effects.push(...rows.map(effectOf));
      this.#last = rows.at(-1)?.["n"] ?? this.#last;
      if (rows.length < MOST_TAKEN) return effects;
    }
  }
}

function effectOf(row: TextRow): CapturedEffect {
  return {
    from: row["version_before"] ?? null,
    to: row["version_after"] ?? null,
    effect: {
      schema: row["schema"] ?? "",
      table: row["name"] ?? "",
      keyBefore: keyOf(row["key_before"]),
      keyAfter: keyOf(row["key_after"]),
      before: row["before"] ?? null,
      after: row["after"] ?? null,
      rowBefore: lineOf(row["row_before"]),
      rowAfter: lineOf(row["row_after"]),
    },
  };
}

const FILLS = "it fills tables: make the table first, then INSERT into it";
const changesAlong = (table: TableName): string =>
  `rows of ${tablePath(table)} change along with it, by an event trigger or a function`;
const CHANGES_SCHEMA = "it changes the schema from inside: write these statements by themselves";

/** What the server says against a statement. */
export function failed(statement: PlacedStatement, cause: unknown, about = ""): DatabaseError {
  const told = { isLost: isLost(cause), sqlState: sqlStateOf(cause), about, ...toldBesides(cause) };
  return failedBy(statement, cause, told);
}

function keyOf(json: string | null | undefined): readonly string[] | null {
  return json === null || json === undefined ? null : (JSON.parse(json) as string[]);
}

function lineOf(json: string | null | undefined): string | null {
  return json === null || json === undefined ? null : `${json}\n`;
}
