import type { LoggedStatement, LoggedWrite } from "./log-entry.ts";
import { schemaPath, tablePath } from "./row-changes.ts";

/** A table of which rows changed, and when: the numbers of statements. */
interface ChangedTable {
  readonly schema: string;
  readonly table: string;
  readonly first: number;
  /** The last one that found a row there; before all of them if none did. */
  readonly lastFound: number;
}

/** Comments, behind whatever is quoted, which is kept. */
const COMMENT = /("[^"]*(?:""[^"]*)*"|'[^']*(?:''[^']*)*')|--[^\n]*|\/\*[\s\S]*?\*\//g;
/** Everything that may be a name: SQLite takes one in any quotes. */
const NAME =
  /"([^"]*(?:""[^"]*)*)"|'([^']*(?:''[^']*)*)'|`([^`]*(?:``[^`]*)*)`|\[([^\]]*)\]|[\p{L}_][\p{L}\p{M}\p{N}_$]*/gu;
/** Whatever may give tables, columns or values another look. */
const RESHAPES = /^ALTER\b.*\b(?:ADD|DROP|RENAME|TYPE|SCHEMA|EXPRESSION)\b/is;
/** What only adds leaves rows that are there as they were. */
const ADDS_ONLY = /^(?!.*\b(?:DROP|RENAME|TYPE|SCHEMA|EXPRESSION|PRIMARY)\b).*\bADD\b/is;
/** These reach tables that they do not name: by columns of a type, through partitions, and by cascades. */
const REACHES_FAR =
  /^(?:ALTER (?:TYPE|DOMAIN|SCHEMA)\b|ALTER TABLE\b.*\b(?:DROP|RENAME|TYPE|EXPRESSION)\b|DROP (?!TABLE\b).*\bCASCADE\b)/is;
const MOST_NAMED = 3;
const FINAL = "a commit of changes of the schema cannot be taken back";

/**
 * What a reader should know about the statements that change the schema, by their paths. Rows are shown as they were
 * recorded: what a later statement makes of them is not seen there, nor what an earlier one made of those that they are
 * compared with. Which tables a statement means is told by their names, rather too many than too few.
 */
export function schemaNotes(
  writes: readonly LoggedWrite[],
): ReadonlyMap<string, readonly string[]> {
  const statements = writes.flatMap((write) => write.statements);
  if (!statements.some(({ kind }) => kind === "schema")) return new Map();
  const tables = changedTables(statements);
  const notes = new Map<string, readonly string[]>();
  let number = 0;
  for (const [at, statement] of statements.entries()) {
    if (statement.kind !== "schema") continue;
    number += 1;
    const words = statement.text.replaceAll(COMMENT, "$1 ").trim();
    const before = tables.filter(({ first }) => first < at);
    const after = ADDS_ONLY.test(words) ? [] : tables.filter(({ lastFound }) => lastFound > at);
    notes.set(schemaPath(number), [
      ...told(meant(statement, words, before), "changed before it are shown as they were then"),
      ...told(meant(statement, words, after), "changed after it are compared with what it left"),
      ...(number === 1 ? [FINAL] : []),
    ]);
  }
  return notes;
}

function changedTables(statements: readonly LoggedStatement[]): readonly ChangedTable[] {
  const tables = new Map<string, ChangedTable>();
  for (const [at, { effects }] of statements.entries()) {
    for (const effect of effects) {
      const { schema, table, rowBefore } = effect;
      const path = tablePath(effect);
      const { first = at, lastFound = -1 } = tables.get(path) ?? {};
      const found = rowBefore === null ? lastFound : at;
      tables.set(path, { schema, table, first, lastFound: found });
    }
  }
  return [...tables.values()];
}

/** Those of some tables that a statement may change; `all` where it does not say which. */
function meant(
  { drops = [] }: LoggedStatement,
  words: string,
  tables: readonly ChangedTable[],
): readonly ChangedTable[] | "all" {
  const names = RESHAPES.test(words) ? namesIn(words) : new Set<string>();
  const found = tables.filter(
    (one) =>
      names.has(one.table.toLowerCase()) ||
      drops.some(({ schema = one.schema, table }) => schema === one.schema && table === one.table),
  );
  const isFar = found.length === 0 && tables.length > 0 && REACHES_FAR.test(words);
  return isFar ? "all" : found;
}

function namesIn(words: string): ReadonlySet<string> {
  const names = [...words.matchAll(NAME)].map(([name, double, single, back, bracketed]) => {
    const quote = name.slice(0, 1);
    const quoted = double ?? single ?? back;
    return quoted?.replaceAll(quote + quote, quote) ?? bracketed ?? name;
  });
  return new Set(names.map((name) => name.toLowerCase()));
}

function told(tables: readonly ChangedTable[] | "all", what: string): readonly string[] {
  if (tables === "all") return [`rows that ${what}`];
  if (tables.length === 0) return [];
  const paths = tables.slice(0, MOST_NAMED).map(tablePath).join(", ");
  return [`rows of ${paths}${tables.length > MOST_NAMED ? " and others" : ""} that ${what}`];
}
