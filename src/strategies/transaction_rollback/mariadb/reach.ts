import { DriftError } from "../engine.ts";
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
  readonly hasTriggers: boolean;
}

/** Whether a statement changes a table itself, or something that it sets off. */
type How = "itself" | "behind";

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
  const search = new Search(session, catalog, (why) => refused(statement, "notCaptured", why));
  const words = wordsOf(statement.text);
  if (shape !== null) search.requireOwn(shape.schema);
  search.addCalls(words);
  if (shape !== null) await search.addRelation(shape.table, "itself");
  else if (/^(UPDATE|DELETE)\b/.test(statement.bare)) await search.addNamed(words, "itself");
  await search.finish();
  const tables = search.tables;
  const [target] = tables;
  const isPlain = shape !== null && target?.table === shape.table && !search.hasBodies;
  const isFound = isPlain && target.key.length > 0 && !target.key.some(({ isZoned }) => isZoned);
  const hasTriggers = tables.some(({ triggers }) => triggers.length > 0);
  return { tables, single: isFound ? target : null, hasTriggers };
}

/** The tables that changes of others can set off changes in: through triggers, which they may have, and foreign keys. */
export async function tablesBehind(
  session: Session,
  catalog: Catalog,
  names: readonly string[],
): Promise<readonly Table[]> {
  const search = new Search(session, catalog, (why) => new DriftError(why, []));
  for (const name of names) await search.addRelation(name, "itself");
  await search.finish();
  return search.tables.filter(({ table }) => !names.includes(table));
}

class Search {
  hasBodies = false;
  readonly #session: Session;
  readonly #catalog: Catalog;
  readonly #refused: (why: string) => Error;
  readonly #tables = new Map<string, Table>();
  readonly #bodies: string[] = [];
  readonly #called = new Set<string>();
  readonly #viewed = new Set<string>();

  constructor(session: Session, catalog: Catalog, refuse: (why: string) => Error) {
    this.#session = session;
    this.#catalog = catalog;
    this.#refused = refuse;
  }

  get tables(): readonly Table[] {
    return [...this.#tables.values()];
  }

  /** Refuses what is in another database. */
  requireOwn(schema: string | null): void {
    if (schema === null || schema === this.#catalog.database) return;
    throw this.#refused(`it reaches the database ${schema}, which is another one`);
  }

  /** Adds the functions that are called, those of views too. */
  addCalls(words: readonly Word[]): void {
    for (const [at, { text, kind }] of words.entries()) {
      const view = kind === "literal" ? null : (this.#catalog.relations.get(text) ?? null);
      if (view !== null && !this.#viewed.has(text)) {
        this.#viewed.add(text);
        this.addCalls(wordsOf(view));
      }
      if (words[at + 1]?.text !== "(" || kind === "literal") continue;
      if (words[at - 1]?.text === ".") this.requireOwn(words[at - 2]?.text ?? null);
      this.#addRoutine(text);
    }
  }

  /** Adds every table and view that is named. */
  async addNamed(words: readonly Word[], how: How): Promise<void> {
    for (const [at, { text, kind }] of words.entries()) {
      const before = words[at - 1];
      if (before?.kind === "word" && TABLE_FOLLOWS.test(before.text) && words[at + 1]?.text === ".")
        this.requireOwn(text);
      if (kind !== "literal") await this.addRelation(text, how);
    }
  }

  /** Adds a table, or the tables of a view; other names are nothing. */
  async addRelation(name: string, how: How): Promise<void> {
    const definition = this.#catalog.relations.get(name);
    if (definition === undefined) return;
    if (definition !== null) return this.addNamed(wordsOf(definition), how);
    const table = await findTable(this.#session, { schema: this.#catalog.database, table: name });
    if (table !== null) await this.#addTable(table, how);
  }

  /** Follows bodies until there are no more. */
  async finish(): Promise<void> {
    for (let body = this.#bodies.pop(); body !== undefined; body = this.#bodies.pop()) {
      this.hasBodies = true;
      const words = wordsOf(body);
      for (const { text, kind } of words) if (kind !== "literal") this.#addRoutine(text);
      this.addCalls(words);
      await this.addNamed(words, "behind");
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

  async #addTable(table: Table, how: How): Promise<void> {
    if (this.#tables.has(table.name)) return;
    this.requireOwn(table.schema);
    if (table.unfit !== null) throw this.#refused(`of ${table.name}: ${table.unfit}`);
    // What was set off is put right afterwards, which must not set off more.
    if (table.triggers.length > 0 && how === "behind")
      throw this.#refused(`${table.name}, which it would change as well, has triggers of its own`);
    this.#bodies.push(...table.triggers);
    this.#tables.set(table.name, table);
    const referrers = await referrersOf(this.#session, table);
    if (referrers.length !== (await this.#countReferrers(table)))
      throw this.#refused(`tables that the user may not see refer to ${table.name}`);
    for (const referrer of referrers.filter(({ isCascading }) => isCascading)) {
      const child = await findTable(this.#session, referrer);
      if (child !== null) await this.#addTable(child, "behind");
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
}
