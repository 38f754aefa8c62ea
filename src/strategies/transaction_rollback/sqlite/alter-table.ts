import { isDamage } from "./codes.ts";
import { type SchemaObject, objectsOf } from "./schema-objects.ts";
import type { Session } from "./session.ts";
import { quoted } from "./tables.ts";

/** Quoted texts and names, what divides columns, and runs of anything else. */
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[(),]|[^'"`[(),]+/g;

/**
 * The statements that make a table of the main database what it is in another one, without making its rows anew; they
 * have been run then. Null where there are none: every guess is tried, and its result compared.
 */
export function alterations(
  session: Session,
  after: string,
  table: SchemaObject,
  wanted: SchemaObject,
): readonly string[] | null {
  const head = `ALTER TABLE ${quoted(table.name)}`;
  const [old, now] = ["main", after].map((schema) => columnsOf(session, schema, table.name));
  const guesses = [
    addedColumns(table.sql, wanted.sql).map((text) => `${head} ADD COLUMN ${text}`),
    (old ?? [])
      .filter((name) => now?.includes(name) === false)
      .map((name) => `${head} DROP COLUMN ${quoted(name)}`),
    (old ?? []).flatMap((name, at) => {
      const later = now?.[at] ?? name;
      return later === name ? [] : [`${head} RENAME COLUMN ${quoted(name)} TO ${quoted(later)}`];
    }),
  ];
  return guesses.find((texts) => texts.length > 0 && makes(session, texts, wanted)) ?? null;
}

/** Whether a statement makes a table exactly so; it has been run then. */
export function isRenamed(session: Session, text: string, wanted: SchemaObject): boolean {
  return makes(session, [text], wanted);
}

function makes(session: Session, texts: readonly string[], wanted: SchemaObject): boolean {
  session.exec("SAVEPOINT cofferdam_guess");
  let isRight = false;
  try {
    for (const text of texts) session.exec(text);
    isRight = objectsOf(session, "main").get(`table ${wanted.name}`)?.sql === wanted.sql;
  } catch (thrown) {
    if (!isDamage(thrown)) throw thrown;
  }
  if (!isRight) session.exec("ROLLBACK TO cofferdam_guess");
  session.exec("RELEASE cofferdam_guess");
  return isRight;
}

/** The definitions of the columns that were added: SQLite puts them into the text of the table behind the last column. */
function addedColumns(old: string, now: string): readonly string[] {
  const grown = now.length - old.length;
  let at = 0;
  while (at < old.length && old[at] === now[at]) at += 1;
  if (grown <= 0) return [];
  for (; at >= 0 && now.slice(at + grown) === old.slice(at); at -= 1) {
    const text = now.slice(at, at + grown);
    if (text.startsWith(", ")) return columnsIn(text.slice(2));
  }
  return [];
}

/** Splits definitions at the commas between them. */
function columnsIn(text: string): readonly string[] {
  const columns = [""];
  let depth = 0;
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === "(") depth += 1;
    if (token === ")") depth -= 1;
    if (token === "," && depth === 0) columns.push("");
    else columns.push(`${columns.pop() ?? ""}${token}`);
  }
  return columns.map((column) => column.trim());
}

function columnsOf(session: Session, schema: string, table: string): readonly string[] {
  const rows = session.all("SELECT name FROM pragma_table_xinfo(?, ?) ORDER BY cid", table, schema);
  return rows.map(({ name }) => String(name));
}
