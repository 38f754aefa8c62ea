import type { RowEffect } from "../log-entry.ts";
import type { Session } from "./session.ts";
import { type Table, effectOf, fullName, imageOf, rowSql } from "./tables.ts";

const EFFECTS = "temp.cofferdam_effects";
/** Which rows a trigger of each kind can see. */
const KINDS = [
  ["INSERT", null, "NEW"],
  ["UPDATE", "OLD", "NEW"],
  ["DELETE", "OLD", null],
] as const;

/**
 * Sees what happens to every row of some tables, through triggers and cascades too. Its triggers are temporary: they
 * belong to this connection, and the schema does not change. Those of a row are run before the triggers of the user.
 */
export class Capture {
  readonly #session: Session;
  #tables: readonly Table[] = [];
  #last = 0;

  constructor(session: Session) {
    this.#session = session;
    session.exec(
      `CREATE TEMP TABLE IF NOT EXISTS cofferdam_effects (n INTEGER PRIMARY KEY, place INTEGER, old TEXT, new TEXT)`,
    );
  }

  /** Begins to look at tables; at most one at a time does in a connection. */
  install(tables: readonly Table[]): void {
    this.#tables = tables;
    this.#last = this.#end();
    for (const [place, table] of tables.entries()) {
      for (const [kind, old, now] of KINDS) {
        const [before, after] = [old, now].map((row) =>
          row === null ? "NULL" : rowSql(table, row),
        );
        this.#session.exec(
          `CREATE TEMP TRIGGER ${nameOf(place, kind)} AFTER ${kind} ON ${fullName(table)} BEGIN
             INSERT INTO cofferdam_effects (place, old, new) VALUES (${place}, ${before}, ${after}); END`,
        );
      }
    }
  }

  /** Ends it. */
  uninstall(): void {
    for (const [place] of this.#tables.entries())
      for (const [kind] of KINDS)
        this.#session.exec(`DROP TRIGGER IF EXISTS temp.${nameOf(place, kind)}`);
    this.#tables = [];
  }

  /** What happened since the last call, in its order. Nothing is deleted here, so that `changes()` stays the user's. */
  take(): readonly RowEffect[] {
    const rows = this.#session.all(
      `SELECT place, old, new FROM ${EFFECTS} WHERE n > ? ORDER BY n`,
      this.#last,
    );
    this.#last = this.#end();
    return rows.flatMap((row) => {
      const table = this.#tables[Number(row["place"])];
      if (table === undefined) return [];
      const [before, after] = [row["old"], row["new"]].map((text) =>
        typeof text === "string" ? imageOf(table, text) : null,
      );
      return [effectOf(table, before ?? null, after ?? null)];
    });
  }

  /** Goes on after what was rolled back. */
  skip(): void {
    this.#last = this.#end();
  }

  #end(): number {
    return Number(this.#session.value(`SELECT max(n) FROM ${EFFECTS}`) ?? 0);
  }
}

function nameOf(place: number, kind: string): string {
  return `cofferdam_capture_${place}_${kind.toLowerCase()}`;
}
