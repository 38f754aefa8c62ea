import type { Lexis } from "../sql/split-statements.ts";

/**
 * Comments, literals and quoted names of MariaDB, with backslashes in literals and double quotes for them. What stands in
 * a comment that the server runs is not hidden.
 */
export const MARIADB: Lexis = {
  token:
    /--(?=[\s\u0000-\u001f]|$)[^\n]*|#[^\n]*|\/\*(?!M?!)[\s\S]*?(?:\*\/|$)|'[^'\\]*(?:(?:\\[\s\S]|'')[^'\\]*)*'|"[^"\\]*(?:(?:\\[\s\S]|"")[^"\\]*)*"|`[^`]*(?:``[^`]*)*`|;/g,
  lengthOf: (_script, _at, token) => token.length,
};
