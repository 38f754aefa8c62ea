/** One statement of a script. */
export interface Statement {
  /** As it was written, without the semicolon. */
  readonly text: string;
  /** Its words in upper case, without comments, literals and quoted names, one space between them. */
  readonly bare: string;
  /** The number in the script, from 1. */
  readonly position: number;
}

/** Everything that may hide a semicolon or a word. Nested comments are counted by hand. */
const TOKEN =
  /--[^\n]*|\/\*|[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$|;/g;

/**
 * Splits a script into its statements. A mistake would be told by the server: each statement is sent as one, and the
 * server refuses two in its place.
 */
export function splitStatements(script: string): readonly Statement[] {
  const statements: Statement[] = [];
  let start = 0;
  let bare = "";
  let copied = 0;
  const end = (at: number): void => {
    bare += script.slice(copied, at);
    const words = bare.replaceAll(/\s+/g, " ").trim().toUpperCase();
    if (words !== "") {
      const text = script.slice(start, at).trim();
      statements.push({ text, bare: words, position: statements.length + 1 });
    }
    bare = "";
  };
  TOKEN.lastIndex = 0;
  for (let found = nextToken(script, 0); found !== null; found = nextToken(script, copied)) {
    const { at, length, token } = found;
    if (token === ";") {
      end(at);
      start = at + 1;
      copied = start;
      continue;
    }
    // A literal must not join the words on both sides of it.
    bare += `${script.slice(copied, at)} `;
    copied = at + length;
  }
  end(script.length);
  return statements;
}

function nextToken(
  script: string,
  from: number,
): { readonly at: number; readonly length: number; readonly token: string } | null {
  TOKEN.lastIndex = from;
  const match = TOKEN.exec(script);
  if (match === null) return null;
  const [token] = match;
  const at = match.index;
  if (token === "/*") return { at, length: commentLength(script, at), token };
  if (!token.startsWith("$")) return { at, length: token.length, token };
  // `a$b$` is a name, not the beginning of a literal.
  if (at > 0 && /[\w$\u0080-\uffff]/.test(script[at - 1] ?? ""))
    return { at, length: token.length - 1, token: "" };
  const close = script.indexOf(token, at + token.length);
  const length = close < 0 ? script.length - at : close + token.length - at;
  return { at, length, token };
}

function commentLength(script: string, at: number): number {
  let depth = 0;
  for (let index = at; index < script.length; index += 1) {
    const pair = script.slice(index, index + 2);
    if (pair === "/*") depth += 1;
    else if (pair === "*/") depth -= 1;
    else continue;
    index += 1;
    if (depth === 0) return index + 1 - at;
  }
  return script.length - at;
}
