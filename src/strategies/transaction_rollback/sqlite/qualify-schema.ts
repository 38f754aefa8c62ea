import { quoted } from "./tables.ts";

const SPACE = String.raw`(?:\s|--[^\n]*\n|/\*[\s\S]*?\*/)`;
const NAME = String.raw`(?:"[^"]*(?:""[^"]*)*"|'[^']*(?:''[^']*)*'|\x60[^\x60]*(?:\x60\x60[^\x60]*)*\x60|\[[^\]]*\]|[\w$\u0080-\uffff]+)`;
const HEAD = new RegExp(
  String.raw`^(${SPACE}*(?:CREATE|ALTER|DROP)${SPACE}+(?:UNIQUE${SPACE}+)?(?:TABLE|INDEX|VIEW|TRIGGER)${SPACE}+` +
    String.raw`(?:IF${SPACE}+(?:NOT${SPACE}+)?EXISTS${SPACE}*)?)(?:${NAME}${SPACE}*\.${SPACE}*)?(?=${NAME})`,
  "i",
);

/** The two numbers in the header of a file that are the user's own. */
const NUMBER = /^PRAGMA (user_version|application_id) = (-?\d+)$/;

/**
 * A statement that changes the schema of the main database as one for a database of another name. What SQLite keeps as
 * the text of the schema has no such name in it, so that it comes out the same.
 */
export function qualifySchema(text: string, schema: string): string {
  if (schema === "main") return text;
  const [, setting, number] = NUMBER.exec(text) ?? [];
  if (setting !== undefined) return `PRAGMA ${quoted(schema)}.${setting} = ${number ?? ""}`;
  const head = HEAD.exec(text);
  if (head === null) throw new Error("the statement changes no schema");
  return `${head[1] ?? ""}${quoted(schema)}.${text.slice(head[0].length)}`;
}

const DROP = new RegExp(
  String.raw`^${SPACE}*DROP${SPACE}+TABLE${SPACE}+(?:IF${SPACE}+EXISTS${SPACE}*)?(?:${NAME}${SPACE}*\.${SPACE}*)?(${NAME})`,
  "i",
);

/** The name of the table that a statement drops; null where it does anything else. */
export function droppedTable(text: string): string | null {
  const name = DROP.exec(text)?.[1] ?? null;
  if (name === null || /^[\w$\u0080-\uffff]/.test(name)) return name;
  const [quote = ""] = name;
  const inner = name.slice(1, -1);
  return quote === "[" ? inner : inner.replaceAll(`${quote}${quote}`, quote);
}
