import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { basename, dirname } from "node:path";

/** What SQLite's own program answers, with foreign keys: one text a row, columns separated by bars. */
export function sqlite3(file: string, statements: string, { patienceMs = 5000 } = {}): string[] {
  const input = `.timeout ${patienceMs}\nPRAGMA foreign_keys = ON;\n${statements};\n`;
  const text = execFileSync("sqlite3", ["-batch", "-bail", "-init", "/dev/null", file], {
    input,
    encoding: "utf8",
    stdio: ["pipe", "pipe", "pipe"],
  });
  return text.split("\n").filter((line) => line !== "");
}

/** What stands beside a database while a transaction is under way, or after a crash. Nothing is opened. */
export function journalsBeside(file: string): string[] {
  return readdirSync(dirname(file)).filter((name) => name.startsWith(`${basename(file)}-`));
}
