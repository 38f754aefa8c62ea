import { LineCounter, type Statement } from "../sql/split-statements.ts";

/** Everything that may hide a semicolon or a word, semicolons, and runs of anything else. */
const TOKENS =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'[^']*(?:''[^']*)*(?:'|$)|"[^"]*(?:""[^"]*)*(?:"|$)|`[^`]*(?:``[^`]*)*(?:`|$)|\[[^\]]*(?:\]|$)|;|[\w$\u0080-\uffff]+|[\s\S]/g;
const HIDDEN = /^(?:--|\/\*|['"`[])/;
const TRIGGER = /^CREATE (?:TEMP |TEMPORARY )?TRIGGER\b/;

/** Splits a script into its statements as SQLite does: a trigger ends with `; END`. */
export function splitStatements(script: string): readonly Statement[] {
  const statements: Statement[] = [];
  const lines = new LineCounter();
  let [text, words] = ["", ""];
  const end = (): void => {
    const [bare, line] = [bareOf(words), lines.take()];
    const position = statements.length + 1;
    if (bare !== "") statements.push({ text: text.trim(), bare, position, line });
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
    const isHidden = HIDDEN.test(token);
    words += isHidden ? " " : token;
    lines.pass(token, !isHidden);
  }
  end();
  return statements;
}

function bareOf(words: string): string {
  return words.replaceAll(/\s+/g, " ").trim().toUpperCase();
}
