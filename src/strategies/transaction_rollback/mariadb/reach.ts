import { DriftError } from "../engine.ts";
import type { Statement } from "../sql/split-statements.ts";
import { tablePath } from "../row-changes.ts";
import { changedTable } from "../sql/checked-rows.ts";
import { refused } from "../sql/statement-errors.ts";
import type { Catalog } from "./catalog.ts";
import { type StatementShape, type Word, wordsOf } from "./statement-shape.ts";
import { tableReferences } from "./table-references.ts";
import type { Table } from "./tables.ts";

/** Which tables a statement can change. */
export interface Reach {
  /** All of them, through foreign keys and the user's functions too; those that refer to others come last. */
  readonly tables: readonly Table[];
  /** The table of a statement whose rows can be found by what it says; null for every other one. */
  readonly single: Table | null;
  readonly hasTriggers: boolean;
  /** Whether no row can be changed more than once, unless its key changes. */
  readonly isOnce: boolean;
  /** Why it may change what nobody can look at; null when it cannot. */
  readonly unseen: string | null;
}

/** Whether a statement changes a table itself, through a foreign key, or in the body of a trigger or function. */
type How = "itself" | "cascade" | "body";

/**
 * The tables that a statement can change. The server allows no statement that is put together at run time in functions and
 * triggers, so that whatever they change is named in their text.
 * @throws DatabaseError (`DATABASE`) for a table whose rows cannot be recorded; nothing was run.
 */
export async function reachOf(
  catalog: Catalog,
  statement: Statement,
  shape: StatementShape | null,
): Promise<Reach> {
  const search = new Search(catalog, (why) => refused(statement, "notCaptured", why));
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
  const isOnce = !/^(upsert|replace)$/.test(shape?.verb ?? "") && search.isOnceIn(words);
  return {
    tables,
    single: isFound ? target : null,
    hasTriggers,
    isOnce,
    unseen: search.unseen,
  };
}

/** The tables that changes of others can set off changes in: through triggers, which they may have, and foreign keys. */
export async function tablesBehind(
  catalog: Catalog,
  names: readonly string[],
): Promise<readonly Table[]> {
  const search = new Search(catalog, (why) => {
    return new DriftError(
      why,
      names.map((table) => changedTable(tablePath({ schema: catalog.database, table }))),
    );
  });
  for (const name of names) await search.addRelation(name, "itself");
  await search.finish();
  return search.tables.filter(({ table }) => !names.includes(table));
}

class Search {
  hasBodies = false;
  /** Why there may be more than was found. */
  unseen: string | null = null;
  #hasCascades = false;
  readonly #catalog: Catalog;
  readonly #refused: (why: string) => Error;
  readonly #tables = new Map<string, Table>();
  readonly #itself = new Set<string>();
  readonly #bodies: { readonly text: string; readonly owner: string }[] = [];
  readonly #called = new Set<string>();
  readonly #viewed = new Set<string>();
  /** The table whose trigger is looked at; empty for the statement. */
  #owner = "";

  constructor(catalog: Catalog, refuse: (why: string) => Error) {
    this.#catalog = catalog;
    this.#refused = refuse;
  }

  get tables(): readonly Table[] {
    return [...this.#tables.values()];
  }

  /** Whether a statement that changes rows changes each of them once; it may find one by two names of its table. */
  isOnceIn(words: readonly Word[]): boolean {
    const names = tableReferences(words)
      .map(({ table }) => table)
      .filter((name) => this.#catalog.relations.has(name));
    const isPlain = names.every((name) => this.#catalog.relations.get(name) === null);
    const hasKeys = this.tables.every(({ key }) => key.length > 0);
    const isAlone = new Set(names).size === names.length;
    return isPlain && hasKeys && isAlone && !this.hasBodies && !this.#hasCascades;
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
      if (view !== null && !this.#viewed.has(`${text} ${this.#owner}`)) {
        this.#viewed.add(`${text} ${this.#owner}`);
        if (view === "") this.unseen ??= `what the view ${text} shows cannot be seen`;
        this.addCalls(wordsOf(view));
      }
      if (words[at + 1]?.text !== "(" || kind === "literal") continue;
      if (words[at - 1]?.text === ".") this.requireOwn(words[at - 2]?.text ?? null);
      this.#addRoutine(text);
    }
  }

  /** Adds every table and view that is named. */
  async addNamed(words: readonly Word[], how: How): Promise<void> {
    for (const { schema } of tableReferences(words)) this.requireOwn(schema);
    for (const { text, kind } of words) if (kind !== "literal") await this.addRelation(text, how);
  }

  /** Adds a table, or the tables of a view; other names are nothing. */
  async addRelation(name: string, how: How): Promise<void> {
    const definition = this.#catalog.relations.get(name);
    if (definition === undefined) return;
    if (definition !== null) return this.addNamed(wordsOf(definition), how);
    const table = await this.#catalog.table({ schema: this.#catalog.database, table: name });
    if (table !== null) await this.#addTable(table, how);
  }

  /** Follows bodies until there are no more. */
  async finish(): Promise<void> {
    for (let body = this.#bodies.pop(); body !== undefined; body = this.#bodies.pop()) {
      this.hasBodies = true;
      this.#owner = body.owner;
      const words = wordsOf(body.text);
      for (const { text, kind } of words) if (kind !== "literal") this.#addRoutine(text);
      this.addCalls(words);
      await this.addNamed(words, "body");
    }
  }

  #addRoutine(name: string): void {
    const body = this.#catalog.routines.get(name.toLowerCase());
    const key = `${name.toLowerCase()} ${this.#owner}`;
    if (body === undefined || this.#called.has(key)) return;
    if (body === null) throw this.#refused(`what the function ${name} does cannot be seen`);
    this.#called.add(key);
    this.#bodies.push({ text: body, owner: this.#owner });
  }

  async #addTable(table: Table, how: How): Promise<void> {
    const { name, triggers } = table;
    this.requireOwn(table.schema);
    if (table.unfit !== null) throw this.#refused(`of ${name}: ${table.unfit}`);
    // What was set off is put right afterwards, which must not set off more. No trigger changes its own table.
    if (triggers.length > 0 && how === "body" && this.#owner !== name)
      throw this.#refused(`${name}, which a trigger or function names, has triggers of its own`);
    if (how === "itself" && !this.#itself.has(name)) {
      this.#itself.add(name);
      this.#bodies.push(...triggers.map((text) => ({ text, owner: name })));
    }
    if (this.#tables.has(name)) return;
    this.#tables.set(name, table);
    const referrers = await this.#catalog.referrersOf(table);
    if (referrers.length !== (await this.#catalog.countReferrers(table)))
      throw this.#refused(`tables that the user may not see refer to ${name}`);
    for (const referrer of referrers.filter(({ isCascading }) => isCascading)) {
      this.#hasCascades = true;
      const child = await this.#catalog.table(referrer);
      // The server runs no triggers for these.
      if (child !== null) await this.#addTable(child, "cascade");
    }
  }
}
