import { DatabaseError } from "../../../errors/index.ts";
import type { LoggedStatement, RowEffect } from "../log-entry.ts";
import type { Statement } from "../sql/split-statements.ts";
import { ADVICE_HELD } from "../sql/server-errors.ts";
import { failedBy, refused } from "../sql/statement-errors.ts";
import { changedRows, changesKey, countOf, leastCount } from "./changed-rows.ts";
import type { Catalog } from "./catalog.ts";
import { type Reach, reachOf } from "./reach.ts";
import { changesBeyond, isDeletedFirst } from "./replaced-rows.ts";
import { type Row, effectOf, readKeys, readRows, readUnique } from "./rows.ts";
import { TouchedRows } from "./touched-rows.ts";
import { type RawRows, type Session, isHeld, isLost, quoted, sqlStateOf } from "./session.ts";
import { type StatementShape, shapeOf } from "./statement-shape.ts";
import type { Table } from "./tables.ts";
import { wholeChanges } from "./whole-changes.ts";

/** A table that has to be looked at as a whole may have so many rows. */
export const MOST_ROWS = 10_000;

/** What a statement did to rows that are known by key. */
interface KeyedEffects {
  readonly effects: readonly RowEffect[];
  /** So many changes of rows more the server may have made for them. */
  readonly beyond: number;
}

/**
 * Runs statements and records what each does to every row, cascades included. Rows are looked at before and after; that
 * none was overlooked is proven by the server's own count of changes. The caller rolls the transaction back.
 */
export class Capture {
  /** Whether triggers had a part in what was recorded. */
  sawTriggers = false;
  readonly #session: Session;
  readonly #catalog: Catalog;
  /** The changes of the transaction when the last statement had ended. */
  #changes: number | null = null;

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
    const reach = await reachOf(this.#catalog, statement, shape);
    this.sawTriggers ||= reach.hasTriggers;
    const before = this.#changes ?? (await changedRows(this.#session));
    this.#changes = null;
    await this.#session.execute("SAVEPOINT cofferdam_statement");
    if (reach.single !== null && shape !== null) {
      const { effects, beyond } = await this.#byKeys(statement, shape, reach.single);
      const after = await changedRows(this.#session);
      if (await this.#isAll(reach.single, after - before - countOf(effects), beyond)) {
        this.#changes = after;
        return { text, kind: "rows", effects };
      }
      await this.#session.execute("ROLLBACK TO SAVEPOINT cofferdam_statement");
    }
    const effects = await this.#byTables(statement, reach);
    const changes = (await changedRows(this.#session)) - before;
    const why = missing(reach, effects, changes);
    if (why !== null) throw refused(statement, "notCaptured", why);
    return { text, kind: "rows", effects };
  }

  /** The fast way: the rows that the statement itself points at, and those that refer to them. */
  async #byKeys(statement: Statement, shape: StatementShape, table: Table): Promise<KeyedEffects> {
    const touched = new TouchedRows(this.#session, this.#catalog);
    if (shape.verb === "update" || shape.verb === "delete") {
      await touched.add(table, await this.#rowsFound(statement, shape, table));
      await this.#execute(statement, shape.text);
      await this.#session.be("own");
      return { effects: await touched.changes(), beyond: 0 };
    }
    if (shape.verb !== "insert") {
      // Which rows stand in the way is known when it has been run once.
      const written = await this.#rowsWritten(statement, shape, table);
      await this.#session.execute("ROLLBACK TO SAVEPOINT cofferdam_statement");
      await touched.add(table, await readUnique(this.#session, table, written));
    }
    const written = await this.#rowsWritten(statement, shape, table);
    const fresh = written.filter((row) => touched.imageOf(table, row) === null);
    const effects = [
      ...(await touched.changes()),
      // A row that was there after all cannot be inserted again, which is tried before the script is kept.
      ...fresh.map((row) => effectOf(table, null, row)),
    ];
    return {
      effects,
      beyond: shape.verb === "replace" ? changesBeyond(table, touched, written) : 0,
    };
  }

  /** Whether effects are all, by the server's changes that are left when they are taken off. */
  async #isAll(table: Table, left: number, beyond: number): Promise<boolean> {
    if (left === 0) return true;
    return left === beyond && (await isDeletedFirst(this.#session, this.#catalog, table));
  }

  /** The rows that an UPDATE or DELETE is going to find. */
  async #rowsFound(
    statement: Statement,
    { alias, table: name, tail }: StatementShape,
    table: Table,
  ): Promise<readonly Row[]> {
    const list = table.key.map((column) => column.expression(quoted(alias))).join(", ");
    const named = alias === name ? "" : quoted(alias);
    const query = `SELECT ${list} FROM ${table.name} ${named} ${tail} FOR UPDATE`;
    return this.#rowsOf(statement, table, query);
  }

  /** Runs an INSERT or REPLACE and gives the rows that it wrote. */
  async #rowsWritten(
    statement: Statement,
    { text }: StatementShape,
    table: Table,
  ): Promise<readonly Row[]> {
    const list = table.key.map((column) => column.expression(table.name)).join(", ");
    return this.#rowsOf(statement, table, `${text} RETURNING ${list}`);
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

  /** Runs a statement that gives keys, with the settings of the user, and reads their rows with our own. */
  async #rowsOf(statement: Statement, table: Table, text: string): Promise<readonly Row[]> {
    const { rows } = await this.#execute(statement, text);
    const keys = rows.map((row) =>
      table.key.map(
        ({ kind }, at) => row[at]?.toString(kind === "binary" ? "hex" : "utf8") ?? null,
      ),
    );
    await this.#session.be("own");
    return readKeys(this.#session, table, keys);
  }

  async #execute(statement: Statement, text: string): Promise<RawRows> {
    await this.#session.be("user");
    try {
      return await this.#session.query(text);
    } catch (cause) {
      throw failed(statement, cause);
    }
  }
}

/** Why effects are not all that a statement did, by the server's count of changes; null when they are. */
function missing(reach: Reach, effects: readonly RowEffect[], changes: number): string | null {
  const least = leastCount(reach.tables, effects);
  // A row may have been changed more than once, but never less than once.
  if (changes === least) return null;
  const isMore = changes > least && effects.length > 0;
  if (isMore && reach.unseen !== null) return reach.unseen;
  if (isMore && (!reach.isOnce || effects.some(changesKey))) return null;
  return "not all the rows that it changes could be found";
}

/** What the server says against a statement. */
export function failed(statement: Statement, cause: unknown): DatabaseError {
  const told = cause instanceof DatabaseError ? cause.hint : null;
  const advice = isHeld(cause) ? ADVICE_HELD : (told ?? "");
  return failedBy(statement, cause, { isLost: isLost(cause), sqlState: sqlStateOf(cause), advice });
}
