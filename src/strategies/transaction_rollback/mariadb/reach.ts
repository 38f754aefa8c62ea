import type { Statement } from "../sql/split-statements.ts";
import { refused } from "../sql/statement-errors.ts";
import type { Catalog } from "./catalog.ts";
import { type Session, literal } from "./session.ts";
import { type StatementShape, type Word, wordsOf } from "./statement-shape.ts";
import { type Table, findTable, referrersOf } from "./tables.ts";

/** Which tables a statement can change. */
export interface Reach {
  /** All of them, through foreign keys and the user's functions too; those that refer to others come last. */
  readonly tables: readonly Table[];
  /** The table of a statement whose rows can be found by what it says; null for every other one. */
  readonly single: Table | null;
}

/** After these stands the name of a table. */
const TABLE_FOLLOWS = /^(INTO|UPDATE|FROM|JOIN|INSERT|REPLACE|IGNORE|LOW_PRIORITY|TABLE)$/i;

/**
 * The tables that a statement can change. The server allows no statement that is put together at run time in functions and
 * triggers, so that whatever they change is named in their text.
 * @throws DatabaseError (`DATABASE`) for a table whose rows cannot be recorded; nothing was run.
 */
export async function reachOf(
  session: Session,
  catalog: Catalog,
  statement: Statement,
  shape: StatementShape | null,
): Promise<Reach> {
  const search = new Search(session, catalog, statement);
  const words = wordsOf(statement.text);
  if (shape !== null) search.requireOwn(shape.schema);
  search.addCalls(words);
  if (shape !== null) await search.addRelation(shape.table);
  else if (/^(UPDATE|DELETE)\b/.test(statement.bare)) await search.addNamed(words);
  await search.finish();
  const tables = search.tables;
  const [target] = tables;
  const isPlain = shape !== null && target?.table === shape.table && !search.hasBodies;
  const isFound = isPlain && target.key.length > 0 && !target.key.some(({ isZoned }) => isZoned);
  return { tables, single: isFound ? target : null };
}

class Search {
  hasBodies = false;
  readonly #session: Session;
  readonly #catalog: Catalog;
  readonly #statement: Statement;
  readonly #tables = new Map<string, Table>();
  readonly #bodies: string[] = [];
  readonly #called = new Set<string>();

  constructor(session: Session, catalog: Catalog, statement: Statement) {
    this.#session = session;
    this.#catalog = catalog;
    this.#statement = statement;
  }

  get tables(): readonly Table[] {
    return [...this.#tables.values()];
  }

  /** Refuses what is in another database. */
  requireOwn(schema: string | null): void {
    if (schema === null || schema === this.#catalog.database) return;
    throw this.#refused(`it reaches the database ${schema}, which is another one`);
  }

  /** Adds the functions that are called. */
  addCalls(words: readonly Word[]): void {
    for (const [at, { text, kind }] of words.entries()) {
      if (words[at + 1]?.text !== "(" || kind === "literal") continue;
      if (words[at - 1]?.text === ".") this.requireOwn(words[at - 2]?.text ?? null);
      this.#addRoutine(text);
    }
  }

  /** Adds every table and view that is named. */
  async addNamed(words: readonly Word[]): Promise<void> {
    for (const [at, { text, kind }] of words.entries()) {
      const before = words[at - 1];
      if (before?.kind === "word" && TABLE_FOLLOWS.test(before.text) && words[at + 1]?.text === ".")
        this.requireOwn(text);
      if (kind !== "literal") await this.addRelation(text);
    }
  }

  /** Adds a table, or the tables of a view; other names are nothing. */
  async addRelation(name: string): Promise<void> {
    const definition = this.#catalog.relations.get(name);
    if (definition === undefined) return;
    if (definition !== null) return this.addNamed(wordsOf(definition));
    const table = await findTable(this.#session, { schema: this.#catalog.database, table: name });
    if (table !== null) await this.#addTable(table);
  }

  /** Follows bodies until there are no more. */
  async finish(): Promise<void> {
    for (let body = this.#bodies.pop(); body !== undefined; body = this.#bodies.pop()) {
      this.hasBodies = true;
      const words = wordsOf(body);
      for (const { text, kind } of words) if (kind !== "literal") this.#addRoutine(text);
      this.addCalls(words);
      await this.addNamed(words);
    }
  }

  #addRoutine(name: string): void {
    const key = name.toLowerCase();
    const body = this.#catalog.routines.get(key);
    if (body === undefined || this.#called.has(key)) return;
    if (body === null) throw this.#refused(`what the function ${name} does cannot be seen`);
    this.#called.add(key);
    this.#bodies.push(body);
  }

  async #addTable(table: Table): Promise<void> {
    if (this.#tables.has(table.name)) return;
    this.requireOwn(table.schema);
    if (table.unfit !== null) throw this.#refused(`of ${table.name}: ${table.unfit}`);
    if (table.triggers.length > 0) throw this.#refused(`${table.name} has triggers`);
    this.#tables.set(table.name, table);
    const referrers = await referrersOf(this.#session, table);
    if (referrers.length !== (await this.#countReferrers(table)))
      throw this.#refused(`tables that the user may not see refer to ${table.name}`);
    for (const referrer of referrers.filter(({ isCascading }) => isCascading)) {
      const child = await findTable(this.#session, referrer);
      if (child !== null) await this.#addTable(child);
    }
  }

  /** What the engine knows, whoever asks; names stand there as they do in the names of files. */
  async #countReferrers({ schema, table }: Table): Promise<number> {
    const name = (part: string): string =>
      `CAST(CONVERT(${literal(part)} USING filename) AS BINARY)`;
    const [row] = await this.#session.run(
      `SELECT COUNT(*) AS n FROM information_schema.INNODB_SYS_FOREIGN
        WHERE CAST(REF_NAME AS BINARY) = CONCAT(${name(schema)}, '/', ${name(table)})`,
    );
    return Number(row?.["n"] ?? 0);
  }

  #refused(why: string): Error {
    return refused(this.#statement, "notCaptured", why);
  }
}
