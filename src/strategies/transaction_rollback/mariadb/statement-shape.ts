/** One word, quoted name, literal or sign of a statement. */
export interface Word {
  /** Words in upper case, quoted names without their quotes, other things as they stand. */
  readonly text: string;
  readonly kind: "word" | "name" | "literal" | "sign";
  readonly at: number;
  readonly end: number;
  /** How many brackets are open. */
  readonly depth: number;
}

/** What a statement on one table says about the rows that it changes. */
export interface StatementShape {
  readonly verb: "insert" | "upsert" | "replace" | "update" | "delete";
  /** The database that was named; null for the one of the connection. */
  readonly schema: string | null;
  readonly table: string;
  /** How the statement calls its table. */
  readonly alias: string;
  /** The conditions and the order, as written; empty where there are none. */
  readonly tail: string;
  /** The statement without what it would answer. */
  readonly text: string;
}

const WORD =
  /\s+|--(?=\s|$)[^\n]*|#[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|(`[^`]*(?:``[^`]*)*`)|('[^'\\]*(?:(?:\\[\s\S]|'')[^'\\]*)*'|"[^"\\]*(?:(?:\\[\s\S]|"")[^"\\]*)*")|([\w$@\u0080-\uffff]+)|([\s\S])/gy;
const MODIFIERS = new Set(["LOW_PRIORITY", "HIGH_PRIORITY", "QUICK", "IGNORE", "INTO", "FROM"]);
const TAIL = new Set(["WHERE", "ORDER", "LIMIT"]);

/** The words of a text, without comments. */
export function wordsOf(text: string): readonly Word[] {
  const words: Word[] = [];
  let depth = 0;
  for (const { 0: all, 1: name, 2: value, 3: word, 4: sign, index: at } of text.matchAll(WORD)) {
    const end = at + all.length;
    if (sign === ")") depth -= 1;
    if (name !== undefined)
      words.push({ text: name.slice(1, -1).replaceAll("``", "`"), kind: "name", at, end, depth });
    else if (value !== undefined) words.push({ text: value, kind: "literal", at, end, depth });
    else if (word !== undefined) words.push({ text: word, kind: "word", at, end, depth });
    else if (sign !== undefined) words.push({ text: sign, kind: "sign", at, end, depth });
    if (sign === "(") depth += 1;
  }
  return words;
}

/** The shape of a statement that changes rows of one table; null for every other one. */
export function shapeOf(text: string): StatementShape | null {
  const words = wordsOf(text);
  const upper = (at: number): string => wordAt(words, at);
  const verb = VERBS[upper(0)];
  if (verb === undefined) return null;
  let at = 1;
  while (MODIFIERS.has(upper(at))) at += 1;
  const [first, second] = [words[at], words[at + 2]];
  if (first === undefined || !isName(first)) return null;
  const isQualified = words[at + 1]?.text === "." && second !== undefined && isName(second);
  const table = isQualified ? second.text : first.text;
  at += isQualified ? 3 : 1;
  let alias = table;
  if (upper(at) === "AS") at += 1;
  const next = words[at];
  if (verb !== "insert" && next !== undefined && isName(next) && !KEYWORDS.has(upper(at))) {
    alias = next.text;
    at += 1;
  }
  const isOfOne =
    verb === "update"
      ? upper(at) === "SET"
      : verb === "insert" || at >= words.length || mayFollow(upper(at));
  if (!isOfOne) return null;
  const top = words.map((word, index) => ({ word, index })).filter(({ word }) => word.depth === 0);
  const rest = top.filter(({ index }) => index >= at);
  const answer = rest.find(({ index }) => upper(index) === "RETURNING");
  const whole = text.slice(0, answer?.word.at ?? text.length);
  const tail = rest.find(({ index }) => TAIL.has(upper(index)));
  const isUpsert = rest.some(
    ({ index }) => upper(index) === "ON" && upper(index + 1) === "DUPLICATE",
  );
  return {
    verb: upper(0) === "REPLACE" ? "replace" : isUpsert ? "upsert" : verb,
    schema: isQualified ? first.text : null,
    table,
    alias,
    tail: verb === "insert" || tail === undefined ? "" : whole.slice(tail.word.at),
    text: whole,
  };
}

const VERBS: Readonly<Record<string, "insert" | "update" | "delete">> = {
  INSERT: "insert",
  REPLACE: "insert",
  UPDATE: "update",
  DELETE: "delete",
};
/** What may follow the name of a table and is no second name for it. */
const KEYWORDS = new Set([
  "FROM",
  "SET",
  "WHERE",
  "ORDER",
  "LIMIT",
  "RETURNING",
  "USING",
  "PARTITION",
  "FOR",
]);

function wordAt(words: readonly Word[], at: number): string {
  const word = words[at];
  return word?.kind === "word" ? word.text.toUpperCase() : "";
}

function isName({ kind, text }: Word): boolean {
  return kind === "name" || (kind === "word" && !text.startsWith("@"));
}

function mayFollow(word: string): boolean {
  return word === "RETURNING" || TAIL.has(word);
}
