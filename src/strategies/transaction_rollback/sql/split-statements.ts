/** One statement of a script. */
export interface Statement {
  /** As it was written, without the semicolon. */
  readonly text: string;
  /** Its words in upper case, without comments, literals and quoted names, one space between them. */
  readonly bare: string;
  /** The number in the script, from 1. */
  readonly position: number;
  /** The line of its first word, from 1. */
  readonly line: number;
}

/** Counts the lines of a script on the way through it. */
export class LineCounter {
  #line = 1;
  #first: number | null = null;

  /** Goes past a part of the script; `hasWords` unless it is a comment or a literal. */
  pass(text: string, hasWords: boolean): void {
    const word = hasWords && this.#first === null ? text.search(/\S/) : -1;
    if (word >= 0) this.#first = this.#line + breaksIn(text.slice(0, word));
    this.#line += breaksIn(text);
  }

  /** The line of the first word since the last time. */
  take(): number {
    const line = this.#first ?? this.#line;
    this.#first = null;
    return line;
  }
}

function breaksIn(text: string): number {
  return text.split("\n").length - 1;
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
  const lines = new LineCounter();
  let start = 0;
  let bare = "";
  let copied = 0;
  const copy = (at: number): void => {
    const text = script.slice(copied, at);
    lines.pass(text, true);
    bare += text;
  };
  const end = (at: number): void => {
    copy(at);
    const [words, line] = [bare.replaceAll(/\s+/g, " ").trim().toUpperCase(), lines.take()];
    if (words !== "") {
      const text = script.slice(start, at).trim();
      statements.push({ text, bare: words, position: statements.length + 1, line });
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
    copy(at);
    // A literal must not join the words on both sides of it.
    bare += " ";
    copied = at + length;
    lines.pass(script.slice(at, copied), false);
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
