import { DatabaseError } from "../../../errors/index.ts";
import type { RowEffect } from "../log-entry.ts";
import { keyText } from "../sql/row-store.ts";
import type { Session } from "./session.ts";
import type { Table } from "./tables.ts";

/**
 * How many changes of rows the transaction holds: one for each row that was inserted, updated or deleted, two where the
 * primary key changed, cascades and triggers included. What was rolled back does not count.
 */
export async function changedRows(session: Session): Promise<number> {
  const id = await session.id();
  const [row] = await session.run("SHOW ENGINE INNODB STATUS");
  const status = row?.["Status"] ?? "";
  const list = status.slice(status.lastIndexOf("LIST OF TRANSACTIONS FOR EACH SESSION:"));
  const mine = list
    .split(/^---TRANSACTION /m)
    .find((entry) => new RegExp(`^\\w+ thread id ${id},`, "m").test(entry));
  // Who did not touch a row yet is not listed.
  if (mine === undefined && status.includes("... truncated...")) throw notListed();
  return Number(/\bundo log entries (\d+)/.exec(mine ?? "")?.[1] ?? 0);
}

/** How many changes of rows effects are. */
export function countOf(effects: readonly RowEffect[]): number {
  return effects.reduce((sum, effect) => sum + (changesKey(effect) ? 2 : 1), 0);
}

/** How few changes of rows effects can be of: with a key of beginnings, one that went may have become one that came. */
export function leastCount(tables: readonly Table[], effects: readonly RowEffect[]): number {
  const loose = new Set(
    tables.filter(({ beginnings }) => beginnings.length > 0).map(({ table }) => table),
  );
  const own = effects.filter(({ table }) => loose.has(table));
  const [gone, come] = [own.filter(isDelete).length, own.filter(isInsert).length];
  return countOf(effects) - Math.min(gone, come);
}

function isDelete({ after }: RowEffect): boolean {
  return after === null;
}

function isInsert({ before }: RowEffect): boolean {
  return before === null;
}

/** Whether a row got another key, which is two changes for the server. */
export function changesKey({ keyBefore, keyAfter }: RowEffect): boolean {
  return keyBefore !== null && keyAfter !== null && keyText(keyBefore) !== keyText(keyAfter);
}

/** The server cuts the list when there are very many transactions. */
function notListed(): DatabaseError {
  return new DatabaseError("The server does not say what the transaction changed", {
    data: { reason: "failed", position: null, command: null, sqlState: null },
    hint: "Nothing was changed. Try again when fewer transactions are open.",
  });
}
