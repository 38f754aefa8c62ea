import type { RowEffect } from "../log-entry.ts";
import { type Session, sqlStateOf } from "./session.ts";
import { CAPTURE_TRIGGER } from "./tables.ts";

type TableName = Pick<RowEffect, "schema" | "table">;

/** Names that can be given to SET CONSTRAINTS: it takes all constraints of a name, and none of them may be strict. */
const EACH = `SELECT format('%I.%I', n.nspname, c.conname) AS name
    FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace
   GROUP BY 1 HAVING bool_and(c.condeferrable)`;
const DEFERRABLE = `SELECT string_agg(name, ', ') AS names FROM (${EACH}`;
const NAMES = `${DEFERRABLE} AND bool_or(c.condeferred AND`;
/** Those that wait only when they are told to; triggers of the user are never told. */
const PATIENT = `${DEFERRABLE} AND bool_and(NOT c.condeferred AND c.contype <> 't') AND bool_or(`;

/** Those that wait, and only check: what triggers of the user do is to be recorded. */
const CHECKING = `${EACH} AND bool_or(c.condeferred) AND bool_and(c.contype <> 't'
  AND has_schema_privilege(n.oid, 'USAGE') AND NOT pg_is_other_temp_schema(n.oid))`;
/** Violated constraints, and one that somebody has just dropped. */
const NOT_SETTLED = /^(23|42704$)/;

/** Constraints that have checks on the given tables, at either end of a foreign key. */
const OF_TABLES = `SELECT t.tgconstraint FROM pg_trigger t WHERE t.tgrelid IN (
  SELECT to_regclass(format('%I.%I', s, r)) FROM unnest($1::text[], $2::text[]) u(s, r))`;

const HAS_TRIGGERS = `EXISTS (SELECT FROM pg_trigger u WHERE u.tgrelid = t.tgrelid AND NOT u.tgisinternal
  AND u.tgenabled IN ('O', 'A') AND u.tgname <> '${CAPTURE_TRIGGER}')`;

/**
 * What cannot wait longer than for the end of a script, as a statement, and what lets it wait; null when there is nothing: triggers of the user, whose effects are to be recorded, and checks of tables with triggers, which
 * `withoutWaiting` will ask for. Other foreign keys go on waiting, because a later script may satisfy them.
 */
export async function endOfScript(
  session: Session,
  tables: readonly TableName[],
): Promise<{ readonly now: string; readonly later: string } | null> {
  const checked = `c.contype = 't' OR c.oid IN (${OF_TABLES} AND ${HAS_TRIGGERS})`;
  const found = await session.run(`${NAMES} (${checked}))) s`, lists(tables));
  const [now, later] = [setting(found, "IMMEDIATE"), setting(found, "DEFERRED")];
  return now === null || later === null ? null : { now, later };
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
 * Lets the checks that wait for the end of the transaction happen now where they succeed, and later ones wait again: a
 * table for which one waits can be neither altered nor dropped. What is violated goes on waiting.
 */
export async function settleWaiting(session: Session): Promise<void> {
  const found = await session.run(CHECKING);
  await settle(
    session,
    found.map(({ name }) => name ?? ""),
  );
}

/** Halves of what fails are tried alone, so that one violated constraint does not keep the others waiting. */
async function settle(session: Session, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await session.run("SAVEPOINT cofferdam_waiting");
  try {
    for (const how of ["IMMEDIATE", "DEFERRED"])
      await session.run(`SET CONSTRAINTS ${names.join(", ")} ${how}`);
    await session.run("RELEASE SAVEPOINT cofferdam_waiting");
    return;
  } catch (thrown) {
    if (!NOT_SETTLED.test(sqlStateOf(thrown) ?? "")) throw thrown;
  }
  await session.run("ROLLBACK TO SAVEPOINT cofferdam_waiting");
  await session.run("RELEASE SAVEPOINT cofferdam_waiting");
  if (names.length === 1) return;
  const middle = Math.ceil(names.length / 2);
  await settle(session, names.slice(0, middle));
  await settle(session, names.slice(middle));
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
