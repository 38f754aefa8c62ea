import type { RowEffect } from "../log-entry.ts";

/** A table as far as its rows are told apart. */
export interface KeyedTable {
  /** Quoted, with its schema. */
  readonly name: string;
  /** The columns of the primary key; empty when there is none. */
  readonly key: readonly unknown[];
}

/** Effects of one kind on one table, one after the other in the log. */
export interface EffectRun<T extends KeyedTable> {
  readonly table: T;
  readonly kind: "insert" | "update" | "delete";
  readonly effects: readonly RowEffect[];
}

/** A row that is there now: the exact image, and the row for people. */
export interface PresentRow {
  readonly image: string;
  readonly row: string;
}

/** The rows of a database inside an open transaction. */
export interface RowStore<T extends KeyedTable> {
  /** Looks a table up; null when there is none. */
  find(effect: Pick<RowEffect, "schema" | "table">): Promise<T | null>;
  /** Locks the rows of images and gives the numbers, from 0, of those that are exactly so. */
  lockEqual(table: T, images: readonly string[]): Promise<ReadonlySet<number>>;
  /** Locks every row of a table without a key that is exactly as one of the images, and gives what they are. */
  lockCopies(table: T, images: readonly string[]): Promise<readonly string[]>;
  /** The present rows with the keys of images, by number from 0. */
  presentRows(table: T, images: readonly string[]): Promise<ReadonlyMap<number, PresentRow>>;
  /** Applies effects, all or none. Gives null, or what the next rows may still put right. */
  tryRun(run: EffectRun<T>): Promise<unknown>;
}

/** What an effect does. */
export function kindOf({ before, after }: RowEffect): EffectRun<KeyedTable>["kind"] {
  if (before === null) return "insert";
  return after === null ? "delete" : "update";
}

/** A key as one text. */
export function keyText(key: readonly string[] | null): string | null {
  return key === null ? null : JSON.stringify(key);
}
