import type { RowEffect } from "../log-entry.ts";
import type { Catalog } from "./catalog.ts";
import { type Row, effectOf, readKeys, readValues, valuesIn } from "./rows.ts";
import type { Session } from "./session.ts";
import type { Referrer, Table } from "./tables.ts";

/** Rows that a statement may change, with those that foreign keys would change along with them. */
export class TouchedRows {
  readonly #session: Session;
  readonly #catalog: Catalog;
  readonly #tables = new Map<string, { table: Table; referrers: readonly Referrer[] }>();
  readonly #rows = new Map<string, Map<string, Row>>();

  constructor(session: Session, catalog: Catalog) {
    this.#session = session;
    this.#catalog = catalog;
  }

  /** Adds rows of a table that has a key, and all that refer to them. */
  async add(table: Table, rows: readonly Row[]): Promise<void> {
    const { referrers } = await this.#known(table);
    const known = this.#rows.get(table.name) ?? new Map<string, Row>();
    this.#rows.set(table.name, known);
    const fresh = rows.filter(({ key }) => !known.has(JSON.stringify(key)));
    for (const row of fresh) known.set(JSON.stringify(row.key), row);
    if (fresh.length === 0) return;
    for (const referrer of referrers) await this.#follow(referrer, fresh);
  }

  /** What the row that was added with the key of another one looked like; null when there is none. */
  imageOf({ name }: Table, { key }: Row): string | null {
    return this.#rows.get(name)?.get(JSON.stringify(key))?.image ?? null;
  }

  /** What became of the rows; those that refer to others come first. */
  async changes(): Promise<readonly RowEffect[]> {
    const effects: RowEffect[] = [];
    for (const [name, rows] of [...this.#rows].toReversed()) {
      const table = this.#tables.get(name)?.table;
      if (table === undefined) continue;
      const keys = [...rows.values()].map(({ key }) => key ?? []);
      const now = await readKeys(this.#session, table, keys);
      const after = new Map(now.map((row) => [JSON.stringify(row.key), row]));
      for (const [key, row] of rows) {
        const left = after.get(key) ?? null;
        if (left?.image !== row.image) effects.push(effectOf(table, row, left));
      }
    }
    return effects;
  }

  async #known(table: Table): Promise<{ table: Table; referrers: readonly Referrer[] }> {
    const known = this.#tables.get(table.name);
    if (known !== undefined) return known;
    const all = await this.#catalog.referrersOf(table);
    const facts = { table, referrers: all.filter(({ isCascading }) => isCascading) };
    this.#tables.set(table.name, facts);
    return facts;
  }

  async #follow(referrer: Referrer, parents: readonly Row[]): Promise<void> {
    const table = await this.#catalog.table(referrer);
    // Without a key its rows cannot be told apart: the count will show whether any changed.
    if (table === null || table.key.length === 0) return;
    const columns = referrer.columns.flatMap(
      (name) => table.columns.find((column) => column.name === name) ?? [],
    );
    const values = parents.map(({ image }) => valuesIn(image, referrer.referred));
    await this.add(table, await readValues(this.#session, table, columns, values));
  }
}
