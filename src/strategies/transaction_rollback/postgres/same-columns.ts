import { DriftError } from "../engine.ts";
import type { RowEffect } from "../log-entry.ts";
import { tablePath } from "../row-changes.ts";
import { changedTable } from "../sql/checked-rows.ts";
import type { Table } from "./tables.ts";

/** Names that `JSON.parse` brings into another order. */
const NUMBER = /^\d+$/;
/** Texts, brackets and whatever stands between them. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]|[^"{}[\]:]+/g;

/**
 * Checks that tables have the columns with which rows were recorded: an exact image has values only, by their place.
 * @throws DriftError for tables that somebody has altered since.
 */
export function requireSameColumns(
  tables: ReadonlyMap<string, Table>,
  effects: readonly RowEffect[],
): void {
  const other = new Set<string>();
  for (const effect of effects) {
    const path = tablePath(effect);
    const now = tables.get(path)?.names ?? [];
    const recorded = [effect.rowBefore, effect.rowAfter].filter((row) => row !== null);
    if (!recorded.every((row) => isSame(columnsOf(row), now))) other.add(path);
  }
  if (other.size === 0) return;
  throw new DriftError("A table has other columns now", [...other].map(changedTable));
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, at) => name === other[at]);
}

/** The names of the columns of a row that is written as JSON, in their order. */
function columnsOf(row: string): readonly string[] {
  const names = Object.keys(JSON.parse(row) as object);
  return names.some((name) => NUMBER.test(name)) ? namesIn(row) : names;
}

function namesIn(row: string): readonly string[] {
  const names: string[] = [];
  let depth = 0;
  let text = "";
  for (const [token] of row.matchAll(TOKEN)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    else if (token === ":" && depth === 1) names.push(JSON.parse(text) as string);
    else if (token.startsWith('"')) text = token;
  }
  return names;
}
