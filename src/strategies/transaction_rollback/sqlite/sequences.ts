import type { Session } from "./session.ts";
import { quoted } from "./tables.ts";

/** The last number of every AUTOINCREMENT table. */
export function lastNumbers(session: Session, schema: string): ReadonlyMap<string, string> {
  if (!hasSequences(session, schema)) return new Map();
  const rows = session.all(
    `SELECT name, CAST(seq AS TEXT) AS seq FROM ${quoted(schema)}.sqlite_sequence`,
  );
  return new Map(rows.map(({ name, seq }) => [String(name), String(seq)]));
}

/** Brings numbers forward that were handed out, where they are behind. */
export function catchUp(
  session: Session,
  schema: string,
  sequences: Readonly<Record<string, string>>,
): void {
  const names = Object.keys(sequences);
  if (names.length === 0 || !hasSequences(session, schema)) return;
  const known = lastNumbers(session, schema);
  const place = `${quoted(schema)}.sqlite_sequence`;
  for (const name of names) {
    const last = BigInt(sequences[name] ?? "0");
    const present = known.get(name);
    if (present === undefined)
      session.run(`INSERT INTO ${place} (name, seq) VALUES (?, ?)`, name, last);
    else if (BigInt(present) < last)
      session.run(`UPDATE ${place} SET seq = ? WHERE name = ?`, last, name);
  }
}

/** There is a place for them only once a table needs it. */
function hasSequences(session: Session, schema: string): boolean {
  const query = `SELECT 1 FROM ${quoted(schema)}.sqlite_schema WHERE name = 'sqlite_sequence'`;
  return session.value(query) !== null;
}
