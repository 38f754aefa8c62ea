import { type RecordFormat, hasFields } from "../../journal/record-file.ts";

/** What one statement did to one row. Images are the engine's own exact text; rows are canonical JSON for people. */
export interface RowEffect {
  readonly schema: string;
  readonly table: string;
  /** The primary key as texts, of the row before and after; null where the table has none, or there is no such row. */
  readonly keyBefore: readonly string[] | null;
  readonly keyAfter: readonly string[] | null;
  /** The whole row; null where there is none. */
  readonly before: string | null;
  readonly after: string | null;
  readonly rowBefore: string | null;
  readonly rowAfter: string | null;
}

/** A table that a statement drops. What somebody else did to it meanwhile would be lost, and is a conflict. */
export interface DroppedTable {
  /** Absent where the engine has one schema only. */
  readonly schema?: string;
  readonly table: string;
  /** Of its definition and all rows as they were found; empty where there was no such table. */
  readonly digest: string;
  /** Whether the next statement makes it again: what cascades took from other tables comes back then. */
  readonly isMadeAgain: boolean;
}

/** One statement as it was run. A `schema` statement is repeated by its text, any other by its effects. */
export interface LoggedStatement {
  readonly text: string;
  readonly kind: "rows" | "schema";
  readonly effects: readonly RowEffect[];
  /** The tables that it drops, if any: they are checked before. */
  readonly drops?: readonly DroppedTable[];
}

/** What one `write` did. */
export interface LoggedWrite {
  readonly name: string;
  readonly at: string;
  readonly statements: readonly LoggedStatement[];
  /** Sequences that moved, with the last number that was handed out. */
  readonly sequences: Readonly<Record<string, string>>;
}

/** A write with the one before it. */
export interface LogRecord extends LoggedWrite {
  readonly parent: string | null;
}

/** The file of one write. */
export const LOG_RECORD: RecordFormat<LogRecord> = {
  name: "database-write",
  version: 1,
  isData: (value): value is LogRecord =>
    hasFields(value, { name: "string", at: "string", statements: "object", sequences: "object" }) &&
    Array.isArray(value["statements"]),
};

/** Where a log ends. */
export interface LogEnd {
  readonly last: string | null;
}

/** The file that says where the log of a sandbox, or of one of its checkpoints, ends. */
export const LOG_END: RecordFormat<LogEnd> = {
  name: "database-log-end",
  version: 1,
  isData: (value): value is LogEnd => hasFields(value, {}) && "last" in value,
};

/** The same effect the other way round. */
export function inverted(effect: RowEffect): RowEffect {
  return {
    ...effect,
    keyBefore: effect.keyAfter,
    keyAfter: effect.keyBefore,
    before: effect.after,
    after: effect.before,
    rowBefore: effect.rowAfter,
    rowAfter: effect.rowBefore,
  };
}
