import { createHash } from "node:crypto";
import { constants, accessSync, lstatSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import {
  DatabaseError,
  SandboxCreationError,
  describeThrown,
  errnoOf,
} from "../../../errors/index.ts";
import type { Library } from "./library.ts";
import type { DatabaseFile } from "./protocol.ts";
import { Session } from "./session.ts";

/** Which database a file is: its true path. What is put in its place counts as the same, and every row is compared. */
export function identityOf(path: string): string {
  return createHash("sha256")
    .update(`sqlite:${realpathSync(path)}`)
    .digest("hex");
}

/**
 * Looks whether a sandbox can be made of a file, which is not opened.
 * @throws SandboxCreationError (`SANDBOX_CREATION`, stage `server`).
 */
export function requireFit(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  for (const [isWrong, why, hint] of [
    [found === undefined, "is not there", "Check the path; a database is never made by itself."],
    [found?.isSymbolicLink(), "is a symbolic link", "Name the file that it leads to."],
    [found?.isFile() === false, "is not a file", "Name the database file."],
    [found && found.nlink > 1, "has a second name", "SQLite needs a file with one name."],
    [!isWritable(path), "cannot be written", "Sandboxes need the permission to write to it."],
    [!isWritable(dirname(path)), "is in a folder that cannot be written", "Journals stand there."],
  ] as const) {
    if (isWrong !== true) continue;
    throw new SandboxCreationError(`The database ${path} ${why}`, {
      data: { stage: "server", residue: [] },
      operation: "create",
      hint,
    });
  }
}

/**
 * Opens a database for a transaction that is rolled back: nothing is written, neither beside it nor in it.
 * @throws DatabaseError (`DATABASE`, reason `unreachable` or `otherDatabase`).
 */
export function openToLook(library: Library, file: DatabaseFile): Session {
  requireSame(file);
  const session = openFile(library, file);
  // In WAL mode this would change the file itself.
  if (!session.isWal()) session.exec("PRAGMA journal_mode = MEMORY");
  session.exec("PRAGMA cache_spill = OFF");
  return session;
}

/** Opens a database with the settings of its connection. */
export function openFile(library: Library, { path, foreignKeys }: DatabaseFile): Session {
  let session: Session | null = null;
  try {
    session = new Session(library, path);
    session.exec(`PRAGMA foreign_keys = ${foreignKeys ? "ON" : "OFF"}`);
    // The first look at the file: whether it is a database at all.
    session.value("SELECT count(*) FROM sqlite_schema");
    return session;
  } catch (cause) {
    session?.[Symbol.dispose]();
    throw unreachable(path, cause);
  }
}

/** A connection may have been pointed elsewhere, or the file be gone, since the sandbox was made. */
export function requireSame({ path, identity }: DatabaseFile): void {
  try {
    if (!lstatSync(path).isFile()) throw new Error("it is not a file");
    if (identity === null || identityOf(path) === identity) return;
  } catch (cause) {
    throw unreachable(path, cause);
  }
  throw new DatabaseError(`The path ${path} leads to another database now`, {
    data: { reason: "otherDatabase", position: null, command: null, sqlState: null },
    hint: "Point the connection to the database that the sandbox was made for, or clean the sandbox up.",
  });
}

function unreachable(path: string, cause: unknown): DatabaseError {
  const why = errnoOf(cause) === "ENOENT" ? "it is not there" : describeThrown(cause);
  return new DatabaseError(`The database ${path} cannot be opened: ${why}`, {
    data: { reason: "unreachable", position: null, command: null, sqlState: null },
    hint: "Check the file, and the connection in the configuration.",
    cause,
  });
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
