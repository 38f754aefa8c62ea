import { type Session, literal } from "./session.ts";

/** The names of a database, and what stands behind those that are not tables. */
export class Catalog {
  readonly database: string;
  /** Tables and views, with the definition of the latter. */
  readonly relations: ReadonlyMap<string, string | null>;
  /** The bodies of functions and procedures, by name in lower case; null for one that the user may not see. */
  readonly routines: ReadonlyMap<string, string | null>;

  private constructor(
    database: string,
    relations: ReadonlyMap<string, string | null>,
    routines: ReadonlyMap<string, string | null>,
  ) {
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
      `SELECT ROUTINE_NAME, ROUTINE_DEFINITION FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = ${own}`,
    );
    return new Catalog(
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
}
