import type { Session } from "./session.ts";

const LAST = `SELECT format('%I.%I', n.nspname, c.relname) AS name,
  CASE WHEN has_sequence_privilege(c.oid, 'USAGE, SELECT') THEN pg_sequence_last_value(c.oid)::text END AS last
  FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname !~ '^pg_'`;

const CATCH_UP = `SELECT setval(s.oid, $2::bigint) FROM to_regclass($1::text) s(oid)
 WHERE s.oid IS NOT NULL AND $2::bigint > coalesce(pg_sequence_last_value(s.oid), 0)`;

/** The last number of every sequence that has handed one out. */
export async function lastNumbers(session: Session): Promise<ReadonlyMap<string, string>> {
  const rows = await session.run(LAST);
  return new Map(
    rows.flatMap(({ name, last }) =>
      typeof name === "string" && typeof last === "string" ? [[name, last]] : [],
    ),
  );
}

/** The sequences that moved between two looks, with where they are now. */
export function movedSequences(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> {
  return Object.fromEntries([...after].filter(([name, last]) => before.get(name) !== last));
}

/** Brings sequences forward to numbers that were handed out, where they are behind. */
export async function catchUp(
  session: Session,
  sequences: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, last] of Object.entries(sequences)) await session.run(CATCH_UP, [name, last]);
}
