import { existsSync, readFileSync, readdirSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isLocked } from "./codes.ts";
import type { Library } from "./library.ts";
import { Session } from "./session.ts";

/** Settles what a crash may have left beside a database: SQLite rolls it back, or drops it, when somebody reads. */
export function settleFile(library: Library, path: string): void {
  if (!existsSync(path)) return;
  using session = new Session(library, path);
  settleJournal(session, path);
}

/** The same for an open database. A journal that means nothing would stay until the next writer comes: it goes too. */
export function settleJournal(session: Session, path: string): void {
  try {
    session.value("SELECT count(*) FROM main.sqlite_schema");
    if (session.isWal() || !existsSync(`${path}-journal`)) return;
    session.exec("PRAGMA journal_mode = PERSIST");
    session.exec("PRAGMA journal_mode = DELETE");
  } catch (thrown) {
    // Whoever holds the lock has settled it.
    if (!isLocked(thrown)) throw thrown;
  }
}

/**
 * Removes super-journals of our own that no journal can need any more, because none of those that they list is there.
 * As long as one is, its absence would mean that the commit happened.
 */
export function removeSuperJournals(session: Session, path: string): void {
  const [folder, start] = [dirname(path), `${basename(path)}-mj`];
  const names = readdirSync(folder).filter((name) => name.startsWith(start));
  if (names.length === 0) return;
  try {
    // Nobody commits meanwhile.
    session.exec("BEGIN IMMEDIATE");
  } catch (thrown) {
    // They mean nothing: the next one who looks will remove them.
    if (isLocked(thrown)) return;
    throw thrown;
  }
  for (const name of names) {
    const journals = readFileSync(join(folder, name), "utf8").split("\0");
    if (!journals.some((journal) => journal !== "" && existsSync(journal)))
      unlinkSync(join(folder, name));
  }
  session.exec("ROLLBACK");
}
