import type { Word } from "./statement-shape.ts";

/** A table where a text names one as such, not by one of its columns. */
export interface TableReference {
  /** The database that was named; null for the one of the connection. */
  readonly schema: string | null;
  readonly table: string;
}

/** What may come next between two brackets: no table, the only one, one of a list, or what follows one in a list. */
type Place = "none" | "only" | "list" | "listed";

interface Level {
  place: Place;
  /** Whether a FROM is that of a query; in functions such as EXTRACT it is not. */
  hasQuery: boolean;
}

/** After these stands one table, or the name of a procedure. */
const ONE_FOLLOWS = new Set(["INSERT", "REPLACE", "TABLE", "CALL"]);
/** These stand between such a word and the table. */
const BETWEEN = new Set(
  "LOW_PRIORITY HIGH_PRIORITY DELAYED QUICK IGNORE INTO IF NOT EXISTS OJ LATERAL".split(" "),
);
/** After these a list of tables is over. All are reserved: no table and no alias has such a name without quotes. */
const AFTER_LIST = new Set(
  "SET SELECT WHERE GROUP HAVING ORDER LIMIT UNION EXCEPT INTERSECT INTO RETURNING PROCEDURE".split(
    " ",
  ),
);

/**
 * The tables that statements, or the body of a trigger or function, name as such. Where the grammar leaves a doubt there is
 * one reference too many, never one too few.
 */
export function tableReferences(words: readonly Word[]): readonly TableReference[] {
  const found: TableReference[] = [];
  const levels: Level[] = [{ place: "none", hasQuery: false }];
  for (const [at, word] of words.entries()) {
    const level = levels.at(-1) ?? { place: "none", hasQuery: false };
    if (word.kind === "sign") passSign(levels, level, word.text);
    else if (word.kind === "literal" || isAfterDot(words, at)) continue;
    else if (!passKeyword(words, at, level) && isAwaited(level)) {
      found.push(referenceAt(words, at));
      level.place = level.place === "list" ? "listed" : "none";
    }
  }
  return found;
}

function passSign(levels: Level[], level: Level, sign: string): void {
  if (sign === "(") {
    // A list in brackets is an entry of the list around it; other brackets belong to a name, or to an expression.
    const isEntry = level.place === "list";
    if (isEntry) level.place = "listed";
    levels.push({ place: isEntry ? "list" : "none", hasQuery: false });
  } else if (sign === ")") {
    if (levels.length > 1) levels.pop();
  } else if (sign === "," && level.place === "listed") level.place = "list";
  else if (sign === ";") level.place = "none";
}

/** Goes past a word that tells what comes next; false for one that does not. */
function passKeyword(words: readonly Word[], at: number, level: Level): boolean {
  const word = keywordAt(words, at);
  const before = keywordAt(words, at - 1);
  if (word === "SELECT" || word === "DELETE") level.hasQuery = true;
  if (AFTER_LIST.has(word) && !(word === "INTO" && level.place === "only")) {
    // What follows FOR says what an index is for.
    if (before !== "FOR") level.place = "none";
  } else if (word === "FROM") {
    if (level.hasQuery) level.place = "list";
  } else if (word === "JOIN" || word === "USING") level.place = "list";
  else if (word === "STRAIGHT_JOIN") {
    // After SELECT it stands alone.
    if (level.place === "listed") level.place = "list";
  } else if (word === "UPDATE") {
    // What a row that is there already gets: columns.
    if (before === "KEY") level.place = "none";
    else if (before !== "FOR" && before !== "ON") level.place = "list";
  } else if (ONE_FOLLOWS.has(word)) {
    // The functions have the same names.
    if (words[at + 1]?.text !== "(") level.place = "only";
  } else return BETWEEN.has(word) && isAwaited(level) && words[at + 1]?.text !== ".";
  return true;
}

function isAwaited({ place }: Level): boolean {
  return place === "only" || place === "list";
}

function referenceAt(words: readonly Word[], at: number): TableReference {
  const [first, table] = [words[at]?.text ?? "", words[at + 2]];
  const isQualified = words[at + 1]?.text === "." && table !== undefined && table.kind !== "sign";
  return { schema: isQualified ? first : null, table: isQualified ? table.text : first };
}

function keywordAt(words: readonly Word[], at: number): string {
  const word = words[at];
  if (word?.kind !== "word" || isAfterDot(words, at)) return "";
  // The server ends a number with a dot where the digits end.
  const isFraction = words[at - 1]?.text === ".";
  return word.text.replace(isFraction ? /^\d+(e\d+)?/i : "", "").toUpperCase();
}

/** What follows a dot is a name, whatever it is; unless the dot is that of a number. */
function isAfterDot(words: readonly Word[], at: number): boolean {
  if (words[at - 1]?.text !== ".") return false;
  const before = words[at - 2];
  if (before === undefined || before.kind === "sign") return false;
  return before.kind !== "word" || !/^(\d+|\d+e\d+|0x[\da-f]+|0b[01]+)$/i.test(before.text);
}
