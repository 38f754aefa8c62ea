/** Quoted texts and names, what divides columns, and runs of anything else. */
const TOKENS =
  /'[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*"|`[^`]*(?:``[^`]*)*`|\[[^\]]*\]|[(),]|[^'"`[(),]+/g;

/** The definitions of the columns that were added: SQLite puts them into the text of the table behind the last column. */
export function addedColumns(old: string, now: string): readonly string[] {
  const grown = now.length - old.length;
  let at = 0;
  while (at < old.length && old[at] === now[at]) at += 1;
  if (grown <= 0) return [];
  for (; at >= 0 && now.slice(at + grown) === old.slice(at); at -= 1) {
    const text = now.slice(at, at + grown);
    if (text.startsWith(", ")) return columnsIn(text.slice(2));
  }
  return [];
}

/** Splits definitions at the commas between them. */
function columnsIn(text: string): readonly string[] {
  const columns = [""];
  let depth = 0;
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === "(") depth += 1;
    if (token === ")") depth -= 1;
    if (token === "," && depth === 0) columns.push("");
    else columns.push(`${columns.pop() ?? ""}${token}`);
  }
  return columns.map((column) => column.trim());
}
