import type { Lexis } from "../sql/split-statements.ts";

/** Comments, literals and quoted names of PostgreSQL. Nested comments are counted by hand. */
export const POSTGRES: Lexis = {
  token:
    /--[^\n]*|\/\*|[eE]'[^'\\]*(?:(?:\\[\s\S]|'')[^'\\]*)*'|'[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*"|\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$|;/g,
  lengthOf: (script, at, token) => {
    if (token === "/*") return commentLength(script, at);
    if (!token.startsWith("$")) return token.length;
    // `a$b$` is a name, not the beginning of a literal.
    if (at > 0 && /[\w$\u0080-\uffff]/.test(script[at - 1] ?? "")) return null;
    const close = script.indexOf(token, at + token.length);
    return close < 0 ? script.length - at : close + token.length - at;
  },
};

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
