import { printable } from "./printable.ts";

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** The rows of a query as cells, the names of the columns first. Numbers stay as they were written. */
export function cellsOf(json: string): string[][] {
  const exact = json.replaceAll(TOKEN, (token) => (token.startsWith('"') ? token : `"${token}"`));
  const rows = JSON.parse(exact) as readonly Readonly<Record<string, unknown>>[];
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (rows.length === 0) return [];
  return [names.map(printable), ...rows.map((row) => names.map((name) => cell(row[name])))];
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  return printable(typeof value === "string" ? value : JSON.stringify(value));
}
