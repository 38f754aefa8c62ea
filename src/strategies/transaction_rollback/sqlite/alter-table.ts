import { addedColumns } from "./added-columns.ts";
import { isDamage } from "./codes.ts";
import { differenceCount } from "./compare-rows.ts";
import { type SchemaObject, objectsOf } from "./schema-objects.ts";
import type { Session } from "./session.ts";
import { findTable, quoted } from "./tables.ts";

/** A column, with all that no ALTER TABLE changes. */
interface ColumnFacts {
  readonly name: string;
  readonly rest: string;
}

/** What may have become of the old columns; any others were added. */
interface Guess {
  readonly dropped: readonly string[];
  readonly renamed: readonly (readonly [from: string, to: string])[];
}

/** More than this is not tried: then the table is made anew. */
const MOST_GUESSES = 64;

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
  const [old = [], now = []] = ["main", after].map((schema) =>
    columnsOf(session, schema, table.name),
  );
  const found: (readonly string[])[] = [];
  let tried = 0;
  for (const guess of guesses(old, now)) {
    tried += 1;
    if (tried > MOST_GUESSES) break;
    const texts = explained(session, table, wanted, guess);
    if (texts !== null) found.push(texts);
  }
  const best = found.length > 1 ? nearest(session, after, wanted, found) : found[0];
  return best !== undefined && makes(session, best, wanted) ? best : null;
}

/** Whether a statement makes a table exactly so; it has been run then. */
export function isRenamed(session: Session, text: string, wanted: SchemaObject): boolean {
  return makes(session, [text], wanted);
}

/** All that may have happened: columns are dropped, renamed in their place, or added behind the last one. */
function* guesses(
  [first, ...others]: readonly ColumnFacts[],
  now: readonly ColumnFacts[],
): Generator<Guess> {
  if (first === undefined) {
    yield { dropped: [], renamed: [] };
    return;
  }
  const [next, ...rest] = now;
  if (next !== undefined && next.rest === first.rest) {
    const own = next.name === first.name ? [] : [[first.name, next.name] as const];
    for (const { dropped, renamed } of guesses(others, rest))
      yield { dropped, renamed: [...own, ...renamed] };
    // One that is there as it was is none that was dropped.
    if (own.length === 0) return;
  }
  for (const { dropped, renamed } of guesses(others, now))
    yield { dropped: [first.name, ...dropped], renamed };
}

/** The statements of a guess; null where they do not make the table. */
function explained(
  session: Session,
  { name: table }: SchemaObject,
  wanted: SchemaObject,
  { dropped, renamed }: Guess,
): readonly string[] | null {
  const head = `ALTER TABLE ${quoted(table)}`;
  const changes = [
    ...dropped.map((name) => `${head} DROP COLUMN ${quoted(name)}`),
    ...renamed.map(
      ([from, to]) => `${head} RENAME COLUMN ${quoted(from)} TO ${written(to, wanted.sql)}`,
    ),
  ];
  return tried(session, () => {
    for (const text of changes) session.exec(text);
    const added = addedColumns(sqlOf(session, wanted), wanted.sql);
    const additions = added.map((text) => `${head} ADD COLUMN ${text}`);
    for (const text of additions) session.exec(text);
    return sqlOf(session, wanted) === wanted.sql ? [...changes, ...additions] : null;
  });
}

/** Of several explanations, the one that leaves the fewest rows different, and the shortest of these. */
function nearest(
  session: Session,
  after: string,
  { name }: SchemaObject,
  found: readonly (readonly string[])[],
): readonly string[] | undefined {
  const counted = found.map((texts) => {
    const count = tried(session, () => {
      for (const text of texts) session.exec(text);
      const table = findTable(session, "main", name);
      return table === null ? null : differenceCount(session, table, after);
    });
    return { texts, count: count ?? Infinity };
  });
  return counted.toSorted((a, b) => a.count - b.count || a.texts.length - b.texts.length)[0]?.texts;
}

function makes(session: Session, texts: readonly string[], wanted: SchemaObject): boolean {
  session.exec("SAVEPOINT cofferdam_make");
  let isRight = false;
  try {
    for (const text of texts) session.exec(text);
    isRight = sqlOf(session, wanted) === wanted.sql;
  } catch (thrown) {
    if (!isDamage(thrown)) throw thrown;
  }
  if (!isRight) session.exec("ROLLBACK TO cofferdam_make");
  session.exec("RELEASE cofferdam_make");
  return isRight;
}

/** Does something and takes it back; null where SQLite refuses it. */
function tried<T>(session: Session, work: () => T | null): T | null {
  session.exec("SAVEPOINT cofferdam_guess");
  try {
    return work();
  } catch (thrown) {
    if (!isDamage(thrown)) throw thrown;
    return null;
  } finally {
    session.exec("ROLLBACK TO cofferdam_guess");
    session.exec("RELEASE cofferdam_guess");
  }
}

function sqlOf(session: Session, { name }: SchemaObject): string {
  return objectsOf(session, "main").get(`table ${name}`)?.sql ?? "";
}

/** A new name as it was given: SQLite puts quotes into the text of the table where the statement had some. */
function written(name: string, sql: string): string {
  const isPlain = /^[a-z_][\w$]*$/i.test(name) && !sql.includes(quoted(name));
  return isPlain ? name : quoted(name);
}

function columnsOf(session: Session, schema: string, table: string): readonly ColumnFacts[] {
  const rows = session.all(
    `SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?, ?) ORDER BY cid`,
    table,
    schema,
  );
  return rows.map(({ name, ...rest }) => ({
    name: String(name),
    rest: JSON.stringify(Object.values(rest).map(String)),
  }));
}
