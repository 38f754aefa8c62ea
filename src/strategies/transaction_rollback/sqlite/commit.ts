import { DatabaseError } from "../../../errors/index.ts";
import { type Direction, DriftError } from "../engine.ts";
import { isViolation } from "./codes.ts";
import type { LoggedWrite } from "../log-entry.ts";
import { markCommitted, rollBack } from "./decisions.ts";
import type { Library } from "./library.ts";
import { openFile, requireSame } from "./open-file.ts";
import type { CommitPart, DecisionPlace, Requests } from "./protocol.ts";
import { redo } from "./redo.ts";
import { Session } from "./session.ts";

/** Opens the place of decisions; a file of our own is made when it is first needed. */
export function openPlace(library: Library, { own, file }: DecisionPlace): Session {
  if (own === null) {
    requireSame(file);
    return durable(openFile(library, file));
  }
  return durable(new Session(library, own, "make"));
}

/**
 * Applies logs and commits them with their decision in one transaction. Several databases are attached to the one of
 * decisions: the super-journal of SQLite makes all of them one atom, as long as none is in WAL mode.
 */
export function commitParts(library: Library, about: Requests["commit"][0]): void {
  const { place, name, parts, direction } = about;
  for (const { file } of parts) requireSame(file);
  using session = openPlace(library, place);
  const members = place.own === null ? [] : attachAll(session, parts);
  const schemas = place.own === null ? ["main"] : parts.map((_, at) => nameOf(at));
  session.exec("BEGIN IMMEDIATE");
  try {
    for (const [at, part] of parts.entries())
      redoPart(session, schemas[at] ?? "main", part, direction);
    markCommitted(session, name, members);
    commitOrTell(session, schemas, parts);
  } catch (thrown) {
    rollBack(session);
    throw thrown;
  }
}

/** Foreign keys are checked here: SQLite says only that one of them is violated. */
function commitOrTell(
  session: Session,
  schemas: readonly string[],
  parts: readonly CommitPart[],
): void {
  try {
    session.exec("COMMIT");
  } catch (thrown) {
    if (!isViolation(thrown)) throw thrown;
    const told = parts.flatMap(({ log }, at) => {
      const changed = new Set(tablesIn(log));
      const rows = session.all(`PRAGMA ${schemas[at] ?? "main"}.foreign_key_check`);
      const found = rows.map(({ table, parent }) => [String(table), String(parent)] as const);
      const ours = found.filter((names) => names.some((name) => changed.has(name)));
      return ours.map(([child, parent]) => `rows of ${child} have no ${parent}`);
    });
    throw new Error(`A foreign key is violated: ${[...new Set(told)].join(", ")}`, {
      cause: thrown,
    });
  }
}

function tablesIn(log: readonly LoggedWrite[]): readonly string[] {
  const statements = log.flatMap((write) => write.statements);
  return statements.flatMap(({ effects }) => effects.map(({ table }) => table));
}

function redoPart(
  session: Session,
  schema: string,
  { file, log }: CommitPart,
  direction: Direction,
): void {
  try {
    redo(session, schema, log, direction);
  } catch (thrown) {
    if (thrown instanceof DriftError) thrown.database = file.identity;
    throw thrown;
  }
}

function attachAll(session: Session, parts: readonly CommitPart[]): readonly string[] {
  const [first] = parts;
  const isChecked = first?.file.foreignKeys === true;
  if (parts.some(({ file }) => file.foreignKeys !== isChecked))
    throw unfit("The databases of one plan must agree about foreign_keys");
  session.exec(`PRAGMA foreign_keys = ${isChecked ? "ON" : "OFF"}`);
  const members = parts.map(({ file }) => file.identity ?? "");
  if (new Set(members).size < members.length)
    throw unfit("Two resources of the plan are the same database");
  for (const [at, { file }] of parts.entries()) {
    session.attach(file.path, nameOf(at));
    if (session.isWal(nameOf(at)))
      throw unfit(`${file.path} was switched to WAL mode after the sandbox was made`);
    session.exec(`PRAGMA ${nameOf(at)}.synchronous = EXTRA`);
  }
  return members;
}

function durable(session: Session): Session {
  session.exec("PRAGMA synchronous = EXTRA");
  return session;
}

function nameOf(at: number): string {
  return `m${at}`;
}

function unfit(message: string): DatabaseError {
  return new DatabaseError(`${message}; nothing was changed`, {
    data: { reason: "failed", position: null, command: null, sqlState: null },
    hint: "docs/databases.md says which databases can be committed together.",
  });
}
