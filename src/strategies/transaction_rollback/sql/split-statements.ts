/** One statement of a script. */
export interface Statement {
  /** As it was written, without the semicolon. */
  readonly text: string;
  /** Its words in upper case, without comments, literals and quoted names, one space between them. */
  readonly bare: string;
  /** The number in the script, from 1. */
  readonly position: number;
}

/** Everything of a dialect that may hide a semicolon or a word. */
export interface Lexis {
  /** Global; its last alternative is the semicolon. */
  readonly token: RegExp;
  /** How long a token is, whose beginning was found; null when it is none after all. */
  lengthOf(script: string, at: number, token: string): number | null;
}

/**
 * Splits a script into its statements. A mistake would be told by the server: each statement is sent as one, and the
 * server refuses two in its place.
 */
export function splitStatements(script: string, lexis: Lexis): readonly Statement[] {
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
  for (const { at, length, token } of tokensOf(script, lexis)) {
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

/** The tokens of a script that may hide something, and its semicolons. */
export function* tokensOf(
  script: string,
  { token: pattern, lengthOf }: Lexis,
): Generator<{ readonly at: number; readonly length: number; readonly token: string }> {
  for (let from = 0; ;) {
    pattern.lastIndex = from;
    const match = pattern.exec(script);
    if (match === null) return;
    const [token] = match;
    const at = match.index;
    const length = lengthOf(script, at, token);
    if (length !== null) yield { at, length, token };
    from = at + (length ?? Math.max(1, token.length - 1));
  }
}
