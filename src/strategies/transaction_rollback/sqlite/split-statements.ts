/** One statement of a script. */
export interface Statement {
  /** As it was written, without the semicolon. */
  readonly text: string;
  /** Its words in upper case, without comments, literals and quoted names, one space between them. */
  readonly bare: string;
  /** The number in the script, from 1. */
  readonly position: number;
}

/** Everything that may hide a semicolon or a word, semicolons, and runs of anything else. */
const TOKENS =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|\[[^\]]*(?:\]|$)|;|[\w$\u0080-\uffff]+|[\s\S]/g;
const HIDDEN = /^(?:--|\/\*|['"`[])/;
const TRIGGER = /^CREATE (?:TEMP |TEMPORARY )?TRIGGER\b/;

/** Splits a script into its statements as SQLite does: a trigger ends with `; END`. */
export function splitStatements(script: string): readonly Statement[] {
  const statements: Statement[] = [];
  let [text, words] = ["", ""];
  const end = (): void => {
    const bare = bareOf(words);
    if (bare !== "") statements.push({ text: text.trim(), bare, position: statements.length + 1 });
    [text, words] = ["", ""];
  };
  for (const [token] of script.matchAll(TOKENS)) {
    const isInside = token === ";" && TRIGGER.test(bareOf(words)) && !/; ?END$/.test(bareOf(words));
    if (token === ";" && !isInside) {
      end();
      continue;
    }
    text += token;
    // A literal must not join the words on both sides of it.
    words += HIDDEN.test(token) ? " " : token;
  }
  end();
  return statements;
}

function bareOf(words: string): string {
  return words.replaceAll(/\s+/g, " ").trim().toUpperCase();
}
