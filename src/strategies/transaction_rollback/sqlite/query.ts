import { DatabaseError, SandboxPathError } from "../../../errors/index.ts";
import { failed } from "./classify-statement.ts";
import { presentRow } from "./rows.ts";
import type { Session } from "./session.ts";
import { splitStatements } from "./split-statements.ts";
import { type RowImage, findTable, quoted, sideOf } from "./tables.ts";
import { encodedSql, jsonOf, valueOfPath } from "./values.ts";

const QUERY = /^(?:SELECT|WITH|VALUES|EXPLAIN)\b/;
/** `main.table/key`, as a diff shows it; several columns of a key have commas between them. */
const ADDRESS = /^main\.([^./]+)\/([^/]*)$/;

/** The rows of a query, or one row by its path, as canonical JSON. Nothing can be changed by it. */
export function answer(session: Session, query: string): string {
  const [statement, second] = splitStatements(query);
  if (statement === undefined || !QUERY.test(statement.bare)) return rowAt(session, query);
  if (second !== undefined) throw notOne();
  try {
    if (statement.bare.startsWith("EXPLAIN")) return explained(session, statement.text);
    // A view knows its columns, and can do nothing but look.
    session.exec(`CREATE TEMP VIEW cofferdam_query AS ${statement.text}`);
    const columns = session.all("SELECT name FROM pragma_table_xinfo('cofferdam_query', 'temp')");
    const names = columns.map(({ name }) => String(name));
    session.exec("PRAGMA query_only = ON");
    const values = names.map((name, at) => `${encodedSql(quoted(name))} AS c${at}`);
    const rows = session.all(`SELECT ${values.join(", ")} FROM temp.cofferdam_query`);
    const lines = rows.map((row) => {
      const fields = names.map(
        (name, at) => `${JSON.stringify(name)}:${jsonOf(String(row[`c${at}`]))}`,
      );
      return `{${fields.join(",")}}`;
    });
    return `[${lines.join(",\n ")}]\n`;
  } catch (cause) {
    throw failed(statement, cause);
  }
}

/** How SQLite would run a statement; it does not. */
function explained(session: Session, text: string): string {
  session.exec("PRAGMA query_only = ON");
  const rows = session.all(text).map((row) => {
    const fields = Object.entries(row).map(
      ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(plain(value))}`,
    );
    return `{${fields.join(",")}}`;
  });
  return `[${rows.join(",\n ")}]\n`;
}

function plain(value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}

function rowAt(session: Session, address: string): string {
  const [, name = "", parts = ""] = ADDRESS.exec(address) ?? [];
  const table = findTable(session, "main", decoded(name));
  const texts = parts.split(",").map(decoded);
  if (table !== null && texts.length === table.key.length) {
    const key: RowImage = table.key.map((column, at) => {
      const isText = table.columns.some((one) => one.name === column && one.isText);
      return [column, valueOfPath(texts[at] ?? "", isText)] as const;
    });
    const { row } = sideOf(table, presentRow(session, table, key));
    if (row !== null) return row;
  }
  throw new SandboxPathError(`There is no row ${address}`, {
    data: { path: address, reason: "missing" },
    operation: "read",
    hint: "Give a query, or the path of a row as a diff shows it.",
  });
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Not made by a diff, so it is taken as it stands.
    return part;
  }
}

function notOne(): DatabaseError {
  return new DatabaseError("A read takes one query", {
    data: { reason: "failed", position: null, command: null, sqlState: null },
    operation: "read",
  });
}
