import type { RowEffect } from "../log-entry.ts";
import type { Session } from "./session.ts";
import { CAPTURE_TRIGGER } from "./tables.ts";

type TableName = Pick<RowEffect, "schema" | "table">;

/** Names that can be given to SET CONSTRAINTS: it takes all constraints of a name, and none of them may be strict. */
const DEFERRABLE = `SELECT string_agg(name, ', ') AS names FROM (
  SELECT format('%I.%I', n.nspname, c.conname) AS name
    FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace
   GROUP BY 1 HAVING bool_and(c.condeferrable)`;
const NAMES = `${DEFERRABLE} AND bool_or(c.condeferred AND`;
/** Those that wait only when they are told to; triggers of the user are never told. */
const PATIENT = `${DEFERRABLE} AND bool_and(NOT c.condeferred AND c.contype <> 't') AND bool_or(`;

/** Constraints that have checks on the given tables, at either end of a foreign key. */
const OF_TABLES = `SELECT t.tgconstraint FROM pg_trigger t WHERE t.tgrelid IN (
  SELECT to_regclass(format('%I.%I', s, r)) FROM unnest($1::text[], $2::text[]) u(s, r))`;

const HAS_TRIGGERS = `EXISTS (SELECT FROM pg_trigger u WHERE u.tgrelid = t.tgrelid AND NOT u.tgisinternal
  AND u.tgenabled IN ('O', 'A') AND u.tgname <> '${CAPTURE_TRIGGER}')`;

/**
 * What cannot wait longer than for the end of a script, as a statement; null when there is nothing: triggers of the
 * user, whose effects are to be recorded, and checks of tables with triggers, which `withoutWaiting` will ask for. Other
 * foreign keys go on waiting, because a later script may satisfy them.
 */
export async function endOfScript(
  session: Session,
  tables: readonly TableName[],
): Promise<string | null> {
  const checked = `c.contype = 't' OR c.oid IN (${OF_TABLES} AND ${HAS_TRIGGERS})`;
  return setting(await session.run(`${NAMES} (${checked}))) s`, lists(tables)), "IMMEDIATE");
}

/**
 * Lets the checks of these tables that wait for the end of the transaction happen now, works while none is pending, and
 * lets later ones wait again. Without the latter, rows that refer to each other could not be written afterwards.
 */
export async function withoutWaiting(
  session: Session,
  tables: readonly TableName[],
  work: () => Promise<void>,
): Promise<void> {
  const found = await session.run(`${NAMES} c.oid IN (${OF_TABLES}))) s`, lists(tables));
  const [now, later] = [setting(found, "IMMEDIATE"), setting(found, "DEFERRED")];
  if (now !== null) await session.run(now);
  await work();
  if (later !== null) await session.run(later);
}

/**
 * Lets the checks of these tables that may wait, but do so only when they are told to, wait until the work is done, as
 * whoever wrote the rows may have told them; null, and nothing is done, when there are none.
 */
export async function withWaiting<T>(
  session: Session,
  tables: readonly TableName[],
  work: () => Promise<T>,
): Promise<T | null> {
  const found = await session.run(`${PATIENT} c.oid IN (${OF_TABLES}))) s`, lists(tables));
  const [now, later] = [setting(found, "IMMEDIATE"), setting(found, "DEFERRED")];
  if (now === null || later === null) return null;
  await session.run(later);
  const done = await work();
  await session.run(now);
  return done;
}

function lists(tables: readonly TableName[]): string[][] {
  return [tables.map(({ schema }) => schema), tables.map(({ table }) => table)];
}

function setting(
  [row]: Awaited<ReturnType<Session["run"]>>,
  how: "IMMEDIATE" | "DEFERRED",
): string | null {
  const names = row?.["names"] ?? null;
  return names === null ? null : `SET CONSTRAINTS ${names} ${how}`;
}
