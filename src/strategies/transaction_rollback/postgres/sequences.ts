import type { Session } from "./session.ts";

const LAST = `SELECT format('%I.%I', n.nspname, c.relname) AS name,
  CASE WHEN has_sequence_privilege(c.oid, 'USAGE, SELECT') THEN pg_sequence_last_value(c.oid)::text END AS last
  FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname !~ '^pg_'`;

const PLACE = `SELECT s.seqincrement > 0 AS ascends, s.seqstart AS start, pg_sequence_last_value(s.seqrelid)::text AS last,
  has_sequence_privilege(s.seqrelid, 'SELECT') AS readable FROM pg_sequence s WHERE s.seqrelid = to_regclass($1::text)`;

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

/** Brings sequences to numbers that were handed out, where they are behind; one may count downwards. */
export async function catchUp(
  session: Session,
  sequences: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, last] of Object.entries(sequences)) {
    if (await isBehind(session, name, BigInt(last)))
      await session.run("SELECT setval($1::text::regclass, $2::bigint)", [name, last]);
  }
}

/** Whether a sequence would hand out a number again. */
async function isBehind(session: Session, name: string, given: bigint): Promise<boolean> {
  const [place] = await session.run(PLACE, [name]);
  if (place === undefined) return false;
  const sign = place["ascends"] === "t" ? 1n : -1n;
  const last = place["last"] ?? null;
  if (last !== null) return (given - BigInt(last)) * sign > 0n;
  // Nothing was handed out since it was made, or told where to go on: that number comes next.
  const [told] =
    place["readable"] === "t" ? await session.run(`SELECT last_value FROM ${name}`) : [];
  return (given - BigInt(told?.["last_value"] ?? place["start"] ?? 0)) * sign >= 0n;
}
