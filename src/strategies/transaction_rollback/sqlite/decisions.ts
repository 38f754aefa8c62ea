import type { Session } from "./session.ts";
import { DECISIONS } from "./tables.ts";

/** What was decided. Before that `OPEN` stands there, which says that a commit of that name may come. */
export type Decision = "COMMIT" | "ABORT";

const PLACE = `main.${DECISIONS}`;

/**
 * Says that a commit of that name may come. Without this it cannot: one that was given up, and forgotten, comes too late
 * for ever, whoever may still be about to do it.
 */
export function openDecision(session: Session, name: string): void {
  inTransaction(session, () => {
    makePlace(session);
    session.run(`INSERT INTO ${PLACE} (name, member, decision) VALUES (?, '', 'OPEN')`, name);
  });
}

/** Puts the decision into the transaction that carries it out, for each of its members. */
export function markCommitted(session: Session, name: string, members: readonly string[]): void {
  session.run(
    `UPDATE ${PLACE} SET decision = 'COMMIT' WHERE name = ? AND member = '' AND decision = 'OPEN'`,
    name,
  );
  if (session.value("SELECT changes()") !== 1) throw new Error("The commit was given up meanwhile");
  for (const member of members)
    session.run(
      `INSERT INTO ${PLACE} (name, member, decision) VALUES (?, ?, 'COMMIT')`,
      name,
      member,
    );
}

/**
 * The decision of that name; when there is none, that it is given up. Where no commit may come there is nothing to write,
 * so that the locks of others do not matter.
 */
export function decide(session: Session, name: string): Decision {
  if (found(session, name) === "OPEN") {
    inTransaction(session, () => {
      session.run(
        `UPDATE ${PLACE} SET decision = 'ABORT' WHERE name = ? AND member = '' AND decision = 'OPEN'`,
        name,
      );
    });
  }
  return decisionOf(session, name) ?? "ABORT";
}

/** The decision of that name; null when there is none. */
export function decisionOf(session: Session, name: string): Decision | null {
  const decision = found(session, name);
  return decision === "COMMIT" || decision === "ABORT" ? decision : null;
}

/** Lets one member forget a decision; with the last of them it is gone, and with the last of these their place. */
export function forgetDecision(session: Session, name: string, member: string): void {
  if (!hasPlace(session)) return;
  inTransaction(session, () => {
    session.run(`DELETE FROM ${PLACE} WHERE name = ? AND member = ?`, name, member);
    session.run(
      `DELETE FROM ${PLACE} WHERE name = ?1 AND NOT EXISTS (SELECT 1 FROM ${PLACE} WHERE name = ?1 AND member <> '')`,
      name,
    );
    dropEmptyPlace(session);
  });
}

/** Takes back that a commit of that name may come, unless it came or somebody has given it up. */
export function withdrawDecision(session: Session, name: string): void {
  if (found(session, name) !== "OPEN") return;
  inTransaction(session, () => {
    session.run(`DELETE FROM ${PLACE} WHERE name = ? AND member = '' AND decision = 'OPEN'`, name);
    dropEmptyPlace(session);
  });
}

/** Runs work in a transaction of its own. */
export function inTransaction(session: Session, work: () => void): void {
  session.exec("BEGIN IMMEDIATE");
  try {
    work();
    session.exec("COMMIT");
  } catch (thrown) {
    rollBack(session);
    throw thrown;
  }
}

/** Ends a transaction, if SQLite has not done so by itself. */
export function rollBack(session: Session): void {
  try {
    session.exec("ROLLBACK");
  } catch {
    // An error of the disk has ended it.
  }
}

function found(session: Session, name: string): unknown {
  if (!hasPlace(session)) return null;
  return session.value(`SELECT decision FROM ${PLACE} WHERE name = ? AND member = ''`, name);
}

function hasPlace(session: Session): boolean {
  return session.value("SELECT 1 FROM main.sqlite_schema WHERE name = ?", DECISIONS) !== null;
}

function dropEmptyPlace(session: Session): void {
  if (session.value(`SELECT 1 FROM ${PLACE}`) === null) session.exec(`DROP TABLE ${PLACE}`);
}

function makePlace(session: Session): void {
  session.exec(
    `CREATE TABLE IF NOT EXISTS ${PLACE} (name TEXT, member TEXT, decision TEXT NOT NULL, PRIMARY KEY (name, member)) WITHOUT ROWID`,
  );
}
