import type { Bindable } from "./library.ts";

/**
 * A value with its type, as text: `i` and digits, `r` and a number that SQLite reads as the very same one, `t` or `b` and
 * the bytes in hexadecimal, or `n`. Nothing is lost: neither zeros in texts, nor bytes that are not UTF-8.
 */
export type Encoded = string;

/** The expression that gives a value so. */
export function encodedSql(value: string): string {
  return (
    `CASE typeof(${value}) WHEN 'integer' THEN 'i' || ${value} WHEN 'real' THEN 'r' || quote(${value})` +
    ` WHEN 'text' THEN 't' || hex(${value}) WHEN 'blob' THEN 'b' || hex(${value}) ELSE 'n' END`
  );
}

/** A value in a statement: the expression, without an affinity of its own, and what is bound to it. */
export interface BoundValue {
  readonly sql: string;
  readonly values: readonly Bindable[];
}

/** How a value is given to SQLite. */
export function bound(value: Encoded): BoundValue {
  const rest = value.slice(1);
  switch (value.slice(0, 1)) {
    case "i":
      return { sql: "?", values: [BigInt(rest)] };
    case "r":
      return { sql: "+CAST(? AS REAL)", values: [rest] };
    case "t":
      if (rest === "") return { sql: "''", values: [] };
      return { sql: "+CAST(? AS TEXT)", values: [Buffer.from(rest, "hex")] };
    case "b":
      if (rest === "") return { sql: "x''", values: [] };
      return { sql: "?", values: [Buffer.from(rest, "hex")] };
    default:
      return { sql: "NULL", values: [] };
  }
}

/** A value as JSON: numbers as they are, blobs and texts that are not UTF-8 as their bytes. */
export function jsonOf(value: Encoded): string {
  const rest = value.slice(1);
  switch (value.slice(0, 1)) {
    case "i":
    case "r":
      return rest;
    case "t":
      return JSON.stringify(textOf(rest) ?? { text: rest.toLowerCase() });
    case "b":
      return JSON.stringify({ blob: rest.toLowerCase() });
    default:
      return "null";
  }
}

/** What in a path would be taken for another type than text. */
const NOT_PLAIN = /^(?:'|x'|[-+.]?\d)/;

/** A value as part of the path of a row; `isText` says that its column holds texts only. Different for every value. */
export function pathText(value: Encoded, isText: boolean): string {
  const rest = value.slice(1);
  if (value.startsWith("b")) return `x'${rest.toLowerCase()}'`;
  if (!value.startsWith("t")) return rest;
  const text = textOf(rest);
  if (text === null) return `t'${rest.toLowerCase()}'`;
  return !isText && NOT_PLAIN.test(text) ? `'${text}'` : text;
}

/** The value that a part of a path means. */
export function valueOfPath(part: string, isText: boolean): Encoded {
  if (isText) return encodedText(part);
  if (/^-?\d+$/.test(part)) return `i${part}`;
  if (/^[-+.]?\d/.test(part)) return `r${part}`;
  const bytes = /^x'((?:[\da-f]{2})*)'$/i.exec(part)?.[1];
  if (bytes !== undefined) return `b${bytes.toUpperCase()}`;
  return encodedText(/^'(.*)'$/s.exec(part)?.[1] ?? part);
}

function encodedText(text: string): Encoded {
  return `t${Buffer.from(text, "utf8").toString("hex").toUpperCase()}`;
}

/** Null where the bytes are not UTF-8. */
function textOf(hex: string): string | null {
  const bytes = Buffer.from(hex, "hex");
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? text : null;
}
