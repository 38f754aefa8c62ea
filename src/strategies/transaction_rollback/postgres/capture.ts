import type { DatabaseError } from "../../../errors/index.ts";
import type { LoggedStatement, RowEffect } from "../log-entry.ts";
import type { Statement } from "../sql/split-statements.ts";
import { failedBy, refused } from "../sql/statement-errors.ts";
import { classifyStatement } from "./classify-statement.ts";
import { endOfScript } from "./deferred.ts";
import { IMAGE_CLAUSES } from "./image-settings.ts";
import { type Session, isLost, sqlStateOf } from "./session.ts";
import { CAPTURE_TRIGGER, type Table, tableOf, touchedSince, touchedTables } from "./tables.ts";
import { targetTables } from "./target-tables.ts";

const OBJECT_IN_USE = "55006";
const NO_RIGHT = "42501";
/** A trigger of one table may touch the next; each round finds more of them. */
const MOST_ROUNDS = 50;

const PREPARATION = [
  `CREATE TEMP TABLE cofferdam_effects (n bigserial, schema text, name text, key_before text, key_after text,
     before text, after text, row_before text, row_after text) ON COMMIT DROP`,
  `CREATE FUNCTION pg_temp.cofferdam_capture() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER ${IMAGE_CLAUSES} AS $capture$
   DECLARE
     had boolean := TG_OP <> 'INSERT';
     has boolean := TG_OP <> 'DELETE';
   BEGIN
     INSERT INTO pg_temp.cofferdam_effects (schema, name, key_before, key_after, before, after, row_before, row_after)
     VALUES (TG_TABLE_SCHEMA, TG_TABLE_NAME,
       CASE WHEN had THEN (SELECT json_agg(to_jsonb(OLD) ->> c ORDER BY p)::text FROM unnest(TG_ARGV) WITH ORDINALITY u(c, p)) END,
       CASE WHEN has THEN (SELECT json_agg(to_jsonb(NEW) ->> c ORDER BY p)::text FROM unnest(TG_ARGV) WITH ORDINALITY u(c, p)) END,
       CASE WHEN had THEN OLD::text END, CASE WHEN has THEN NEW::text END,
       CASE WHEN had THEN row_to_json(OLD, true)::text END, CASE WHEN has THEN row_to_json(NEW, true)::text END);
     RETURN NULL;
   END $capture$`,
];

/** A table that can only be watched from the beginning, because checks of its rows wait for the end. */
export class UnwatchedError extends Error {
  override readonly name = "UnwatchedError";
  readonly oid: string;

  constructor(oid: string, cause: DatabaseError) {
    super(cause.message, { cause });
    this.oid = oid;
  }
}

/**
 * Runs statements and records what each does to every row, cascades and triggers included. A trigger of ours is put on
 * every table that a statement turns out to touch, and the statement is run again from before. The triggers take locks
 * on their tables, and temporary objects are used: the caller rolls the transaction back.
 */
export class Capture {
  readonly #session: Session;
  readonly #watched = new Set<string>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** Makes what the triggers need. */
  async prepare(): Promise<void> {
    for (const statement of PREPARATION) await this.#session.run(statement);
  }

  /** Watches tables that are there before any row has changed. */
  async watchFirst(oids: Iterable<string>): Promise<void> {
    for (const oid of oids) {
      const table = await tableOf(this.#session, oid);
      if (table !== null) await this.#install(oid, table);
    }
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
    // Spares the first, futile run where the tables can be told from the statement.
    for (const oid of await targetTables(this.#session, statement))
      if (!this.#watched.has(oid)) await this.#watch(statement, oid);
    return this.#record(statement, kind);
  }

  /**
   * Lets happen what waits for the end of a transaction and cannot wait for a later script, after the tables of
   * everything that is in the sandbox. Null when it did nothing.
   */
  async end(
    tables: readonly Pick<RowEffect, "schema" | "table">[],
  ): Promise<LoggedStatement | null> {
    const text = await endOfScript(this.#session, tables);
    if (text === null) return null;
    const logged = await this.#record({ text, bare: "", position: 0 }, "rows");
    return logged.effects.length === 0 ? null : logged;
  }

  async #record(statement: Statement, kind: LoggedStatement["kind"]): Promise<LoggedStatement> {
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      await this.#session.run("SAVEPOINT cofferdam_statement");
      const before = await touchedTables(this.#session);
      const count = await this.#execute(statement);
      const touched = touchedSince(before, await touchedTables(this.#session));
      const unseen = touched.filter(
        ({ schema, oid }) => schema !== "pg_catalog" && !this.#watched.has(oid),
      );
      if (kind === "schema") {
        if (unseen.some(({ isMaterialized }) => !isMaterialized))
          throw refused(statement, "notCaptured", FILLS);
        return this.#logged(statement, kind);
      }
      if (touched.some(({ schema }) => schema === "pg_catalog"))
        throw refused(statement, "notCaptured", CHANGES_SCHEMA);
      if (unseen.length === 0) return this.#logged(statement, kind, count);
      await this.#session.run("ROLLBACK TO SAVEPOINT cofferdam_statement");
      for (const { oid } of unseen) await this.#watch(statement, oid);
    }
    throw refused(statement, "notCaptured", "its triggers touch more and more tables");
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
    try {
      await this.#install(oid, table);
    } catch (cause) {
      const owned = sqlStateOf(cause) === NO_RIGHT ? ", which takes the owner of the table" : "";
      const error = failed(
        statement,
        cause,
        `the rows of ${table.name} cannot be watched${owned}: `,
      );
      throw sqlStateOf(cause) === OBJECT_IN_USE ? new UnwatchedError(oid, error) : error;
    }
  }

  async #install(oid: string, table: Table): Promise<void> {
    const [row] = await this.#session.run(
      "SELECT string_agg(quote_literal(name), ', ') AS names FROM (SELECT (parse_ident(k))[1] AS name FROM unnest($1::text[]) k) s",
      [table.key],
    );
    await this.#session.run(
      `CREATE TRIGGER ${CAPTURE_TRIGGER} AFTER INSERT OR UPDATE OR DELETE ON ${table.name}
         FOR EACH ROW EXECUTE FUNCTION pg_temp.cofferdam_capture(${row?.["names"] ?? ""})`,
    );
    await this.#session.run(`ALTER TABLE ${table.name} ENABLE ALWAYS TRIGGER ${CAPTURE_TRIGGER}`);
    this.#watched.add(oid);
  }

  async #logged(
    statement: Statement,
    kind: LoggedStatement["kind"],
    count = 0,
  ): Promise<LoggedStatement> {
    const rows = await this.#session.run(
      "WITH taken AS (DELETE FROM pg_temp.cofferdam_effects RETURNING *) SELECT * FROM taken ORDER BY n",
    );
    const isChange = /^(INSERT|UPDATE|DELETE|MERGE)\b/.test(statement.bare);
    if (isChange && count > 0 && rows.length === 0)
      throw refused(statement, "notCaptured", "the rows that it changed are not in this database");
    const effects = rows.map((row): RowEffect => ({
      schema: row["schema"] ?? "",
      table: row["name"] ?? "",
      keyBefore: keyOf(row["key_before"]),
      keyAfter: keyOf(row["key_after"]),
      before: row["before"] ?? null,
      after: row["after"] ?? null,
      rowBefore: lineOf(row["row_before"]),
      rowAfter: lineOf(row["row_after"]),
    }));
    return { text: statement.text, kind, effects };
  }
}

const FILLS = "it fills tables: make the table first, then INSERT into it";
const CHANGES_SCHEMA = "it changes the schema from inside: write these statements by themselves";

/** What the server says against a statement. */
export function failed(
  statement: Pick<Statement, "bare" | "position">,
  cause: unknown,
  about = "",
): DatabaseError {
  return failedBy(statement, cause, { isLost: isLost(cause), sqlState: sqlStateOf(cause) }, about);
}

function keyOf(json: string | null | undefined): readonly string[] | null {
  return json === null || json === undefined ? null : (JSON.parse(json) as string[]);
}

function lineOf(json: string | null | undefined): string | null {
  return json === null || json === undefined ? null : `${json}\n`;
}
