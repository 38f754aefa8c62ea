import type { RowEffect } from "../log-entry.ts";
import { type Session, literal } from "./session.ts";
import { type Referrer, type Table, bodyIn, findTable, referrersOf } from "./tables.ts";

type TableName = Pick<RowEffect, "schema" | "table">;

/**
 * The names of a database, and what stands behind them. Each table is looked up once: a script may have very many
 * statements on it, and the schema is nothing that they can change.
 */
export class Catalog {
  readonly database: string;
  /** Tables and views, with the definition of the latter. */
  readonly relations: ReadonlyMap<string, string | null>;
  /** The bodies of functions and procedures, by name in lower case; null for one that the user may not see. */
  readonly routines: ReadonlyMap<string, string | null>;

  readonly #session: Session;
  readonly #tables = new Map<string, Promise<Table | null>>();
  readonly #referrers = new Map<string, Promise<readonly Referrer[]>>();
  readonly #counts = new Map<string, Promise<number>>();

  private constructor(
    session: Session,
    database: string,
    relations: ReadonlyMap<string, string | null>,
    routines: ReadonlyMap<string, string | null>,
  ) {
    this.#session = session;
    this.database = database;
    this.relations = relations;
    this.routines = routines;
  }

  static async load(session: Session, database: string): Promise<Catalog> {
    const own = literal(database);
    const tables = await session.run(
      `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${own}`,
    );
    const views = await session.run(
      `SELECT TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = ${own}`,
    );
    const routines = await session.run(
      `SELECT ROUTINE_NAME, ${bodyIn("ROUTINE_DEFINITION")} AS ROUTINE_DEFINITION FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = ${own}`,
    );
    return new Catalog(
      session,
      database,
      new Map([
        ...tables.map((row) => [row["TABLE_NAME"] ?? "", null] as const),
        ...views.map((row) => [row["TABLE_NAME"] ?? "", row["VIEW_DEFINITION"] ?? ""] as const),
      ]),
      new Map(
        routines.map((row) => [
          (row["ROUTINE_NAME"] ?? "").toLowerCase(),
          row["ROUTINE_DEFINITION"] ?? null,
        ]),
      ),
    );
  }

  /** A table; null when there is none, or it is a view. */
  table(name: TableName): Promise<Table | null> {
    return once(this.#tables, name, () => findTable(this.#session, name));
  }

  /** The foreign keys that refer to a table, as far as the user may see them. */
  referrersOf(name: TableName): Promise<readonly Referrer[]> {
    return once(this.#referrers, name, () => referrersOf(this.#session, name));
  }

  /**
   * How many foreign keys refer to a table. The engine knows, whoever asks; names stand there as they do in the names of
   * files.
   */
  countReferrers(name: TableName): Promise<number> {
    const part = (text: string): string =>
      `CAST(CONVERT(${literal(text)} USING filename) AS BINARY)`;
    return once(this.#counts, name, async () => {
      const [row] = await this.#session.run(
        `SELECT COUNT(*) AS n FROM information_schema.INNODB_SYS_FOREIGN
          WHERE CAST(REF_NAME AS BINARY) = CONCAT(${part(name.schema)}, '/', ${part(name.table)})`,
      );
      return Number(row?.["n"] ?? 0);
    });
  }
}

function once<T>(
  known: Map<string, Promise<T>>,
  { schema, table }: TableName,
  look: () => Promise<T>,
): Promise<T> {
  const name = JSON.stringify([schema, table]);
  const found = known.get(name) ?? look();
  known.set(name, found);
  return found;
}
