import { DriftError } from "../engine.ts";
import { type LoggedStatement, inverted } from "../log-entry.ts";
import { tablePath } from "../row-changes.ts";
import { changedTable } from "../sql/checked-rows.ts";
import { applyEffect } from "./apply-effect.ts";
import { qualifySchema } from "./qualify-schema.ts";
import type { Session } from "./session.ts";
import { tableDigest } from "./table-digest.ts";
import { neighbours, watching } from "./watching.ts";

/**
 * Changes the schema once more by a statement of a log; `next` is the one after it.
 * @throws DriftError when that does not work any more, or would lose what somebody else did meanwhile.
 */
export function repeatSchema(
  session: Session,
  schema: string,
  statement: LoggedStatement,
  next?: LoggedStatement,
): void {
  const [drops] = statement.drops ?? [];
  if (drops !== undefined && tableDigest(session, schema, drops.table) !== drops.digest)
    throw new DriftError("A table was changed by somebody else, and would be dropped", [
      changedTable(tablePath({ schema: "main", table: drops.table })),
    ]);
  applySchema(session, schema, statement, next);
}

/**
 * Changes the schema by a statement. One that drops a table to make it again is run together with the next one.
 * @throws DriftError when it fails, or rows of other tables would change by it.
 */
export function applySchema(
  session: Session,
  schema: string,
  { text, drops: [drops] = [] }: LoggedStatement,
  next?: LoggedStatement,
): void {
  if (drops === undefined) return execute(session, schema, text);
  const reached = neighbours(session, schema, new Map([[drops.table, null]]));
  const tables = new Map(reached.map((table) => [table.table, table]));
  watching(session, schema, tables, (capture) => {
    execute(session, schema, text);
    const taken = capture.take().filter(({ table }) => tables.has(table));
    if (drops.isMadeAgain) execute(session, schema, next?.text ?? "");
    else if (taken.length > 0) throw othersChange(taken.map(tablePath));
    // SQLite deletes the rows before it drops a table, and foreign keys act on that; nothing switches them off here.
    for (const effect of taken.toReversed()) {
      const table = tables.get(effect.table);
      if (table !== undefined) applyEffect(session, table, inverted(effect), "ABORT");
    }
  });
}

function execute(session: Session, schema: string, text: string): void {
  try {
    session.exec(qualifySchema(text, schema));
  } catch (cause) {
    const told = cause instanceof Error ? cause.message : "";
    throw new DriftError(
      `The schema cannot be changed any more: ${told}`,
      [{ path: "schema-changes", reason: "changed", base: null, theirs: null, ours: text }],
      cause,
    );
  }
}

function othersChange(paths: readonly string[]): DriftError {
  const conflicts = [...new Set(paths)].map(changedTable);
  return new DriftError("Other rows than the recorded ones would change", conflicts);
}
