import { printable } from "./printable.ts";

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\]:,]/g;
/** In front of a number that became a text; JSON writes it out, so no text of a database looks like it. */
const NUMBER = "\\u0000";
/** Behind the name of a column that has a namesake before it, with its place. */
const NAMESAKE = "\\u0001";

/** The rows of a query as cells, the names of the columns first. Numbers stay as they were written. */
export function cellsOf(json: string): string[][] {
  const rows = JSON.parse(distinct(json)) as readonly Readonly<Record<string, unknown>>[];
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (rows.length === 0) return [];
  const titles = names.map((name) => printable(name.split("\u0001", 1)[0] ?? ""));
  return [titles, ...rows.map((row) => names.map((name) => cell(row[name])))];
}

/** The same rows with names of columns that differ, as those of a join may not, and with numbers as marked texts. */
function distinct(json: string): string {
  let depth = 0;
  let isName = false;
  let seen: string[] = [];
  return json.replaceAll(TOKEN, (token) => {
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
    if (token === "{" && depth === ROW) seen = [];
    const isColumn = isName && depth === ROW && token.startsWith('"');
    isName = token === "{" || token === ",";
    if (!isColumn) return /^[-\d]/.test(token) ? `"${NUMBER}${token}"` : token;
    const place = seen.push(token);
    return seen.indexOf(token) < place - 1 ? `${token.slice(0, -1)}${NAMESAKE}${place}"` : token;
  });
}

/** How deep the columns of a row are: in the list, in the row. */
const ROW = 2;

function cell(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value !== "string")
    return printable(JSON.stringify(value).replaceAll(/"\\u0000([^"]*)"/g, "$1"));
  return printable(value.replace(/^\u0000/, ""));
}
