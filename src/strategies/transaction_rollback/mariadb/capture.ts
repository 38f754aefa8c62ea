import type { DatabaseError } from "../../../errors/index.ts";
import type { LoggedStatement, RowEffect } from "../log-entry.ts";
import type { Statement } from "../sql/split-statements.ts";
import { failedBy, refused } from "../sql/statement-errors.ts";
import { changedRows, countOf } from "./changed-rows.ts";
import type { Catalog } from "./catalog.ts";
import { type Reach, reachOf } from "./reach.ts";
import { type Row, effectOf, readKeys, readRows } from "./rows.ts";
import { TouchedRows } from "./touched-rows.ts";
import { type Session, isLost, quoted, sqlStateOf } from "./session.ts";
import { type StatementShape, shapeOf } from "./statement-shape.ts";
import type { Table } from "./tables.ts";
import { wholeChanges } from "./whole-changes.ts";

/** A table that has to be looked at as a whole may have so many rows. */
export const MOST_ROWS = 10_000;

/**
 * Runs statements and records what each does to every row, cascades included. Rows are looked at before and after; that
 * none was overlooked is proven by the server's own count of changes. The caller rolls the transaction back.
 */
export class Capture {
  readonly #session: Session;
  readonly #catalog: Catalog;

  constructor(session: Session, catalog: Catalog) {
    this.#session = session;
    this.#catalog = catalog;
  }

  /**
   * Runs one statement.
   * @throws DatabaseError (`DATABASE`) when its effects cannot be recorded wholly.
   */
  async run(statement: Statement): Promise<LoggedStatement> {
    const { text } = statement;
    const shape = shapeOf(text);
    const reach = await reachOf(this.#session, this.#catalog, statement, shape);
    const before = await changedRows(this.#session);
    await this.#session.execute("SAVEPOINT cofferdam_statement");
    if (reach.single !== null && shape !== null) {
      const effects = await this.#byKeys(statement, shape, reach.single);
      const changes = (await changedRows(this.#session)) - before;
      if (effects !== null && changes === countOf(effects)) return { text, kind: "rows", effects };
      await this.#session.execute("ROLLBACK TO SAVEPOINT cofferdam_statement");
    }
    const effects = await this.#byTables(statement, reach);
    const changes = (await changedRows(this.#session)) - before;
    // A row may have been changed more than once, but never less than once.
    if (changes < countOf(effects) || (changes > 0 && effects.length === 0))
      throw refused(statement, "notCaptured", "not all the rows that it changes could be found");
    return { text, kind: "rows", effects };
  }

  /** The fast way: the rows that the statement itself points at, and those that refer to them. */
  async #byKeys(
    statement: Statement,
    shape: StatementShape,
    table: Table,
  ): Promise<readonly RowEffect[] | null> {
    const key = table.key.map(({ name }) => `${quoted(shape.alias)}.${quoted(name)}`).join(", ");
    if (shape.verb === "insert") {
      const list = table.key.map(({ name }) => quoted(name)).join(", ");
      const keys = await this.#keys(statement, table, `${shape.text} RETURNING ${list}`);
      await this.#session.be("own");
      const rows = await readKeys(this.#session, table, keys);
      return rows.map((row) => effectOf(table, null, row));
    }
    if (shape.verb !== "update" && shape.verb !== "delete") return null;
    const named = shape.alias === shape.table ? "" : quoted(shape.alias);
    const keys = await this.#keys(
      statement,
      table,
      `SELECT ${key} FROM ${table.name} ${named} ${shape.tail} FOR UPDATE`,
    );
    await this.#session.be("own");
    const touched = new TouchedRows(this.#session);
    await touched.add(table, await readKeys(this.#session, table, keys));
    await this.#execute(statement, shape.text);
    await this.#session.be("own");
    return touched.changes();
  }

  /** The slow way: whole tables before and after. */
  async #byTables(statement: Statement, { tables }: Reach): Promise<readonly RowEffect[]> {
    await this.#session.be("own");
    const before = new Map<Table, readonly Row[]>();
    for (const table of tables) {
      await this.#requireSmall(statement, table);
      before.set(table, await readRows(this.#session, table));
    }
    await this.#execute(statement, statement.text);
    await this.#session.be("own");
    const effects: RowEffect[] = [];
    for (const [table, rows] of before)
      effects.push(...wholeChanges(table, rows, await readRows(this.#session, table)));
    return effects;
  }

  async #requireSmall(statement: Statement, table: Table): Promise<void> {
    const { rows } = await this.#session.query(
      `SELECT 1 FROM ${table.name} LIMIT ${MOST_ROWS + 1}`,
    );
    if (rows.length > MOST_ROWS)
      throw refused(
        statement,
        "notCaptured",
        `${table.name} would have to be looked at as a whole, and has more than ${MOST_ROWS} rows`,
      );
  }

  /** Runs a statement that gives keys, with the settings of the user. */
  async #keys(
    statement: Statement,
    table: Table,
    text: string,
  ): Promise<readonly (readonly (string | null)[])[]> {
    await this.#session.be("user");
    try {
      const { rows } = await this.#session.query(text);
      return rows.map((row) =>
        table.key.map(
          ({ kind }, at) => row[at]?.toString(kind === "binary" ? "hex" : "utf8") ?? null,
        ),
      );
    } catch (cause) {
      throw failed(statement, cause);
    }
  }

  async #execute(statement: Statement, text: string): Promise<void> {
    await this.#session.be("user");
    try {
      await this.#session.execute(text);
    } catch (cause) {
      throw failed(statement, cause);
    }
  }
}

/** What the server says against a statement. */
export function failed(statement: Statement, cause: unknown): DatabaseError {
  return failedBy(statement, cause, { isLost: isLost(cause), sqlState: sqlStateOf(cause) });
}
