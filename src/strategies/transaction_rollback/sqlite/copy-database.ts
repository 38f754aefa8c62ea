import { DriftError } from "../engine.ts";
import { violations } from "./checks.ts";
import { inTransaction } from "./decisions.ts";
import type { Library } from "./library.ts";
import { openFile, openToLook } from "./open-file.ts";
import type { Requests } from "./protocol.ts";
import { redo } from "./redo.ts";
import { DECISIONS } from "./tables.ts";

/**
 * Makes a file with what a database holds, read in one transaction, and with a log applied. The number of every row
 * stays, which it would not by `VACUUM INTO`.
 */
export async function copyDatabase(
  library: Library,
  { file, log, target }: Requests["copy"][0],
): Promise<void> {
  {
    using session = openToLook(library, file);
    // Whoever writes waits, or goes on beside it in WAL mode: the copy is of one moment.
    session.exec("BEGIN");
    session.value("SELECT count(*) FROM main.sqlite_schema");
    await session.backUp(library, target);
    session.exec("ROLLBACK");
  }
  using copy = openFile(library, { ...file, path: target });
  const before = violations(copy);
  inTransaction(copy, () => {
    copy.exec(`DROP TABLE IF EXISTS main.${DECISIONS}`);
    redo(copy, "main", log, "forward");
    if (file.foreignKeys && violations(copy) > before)
      throw new DriftError("A foreign key would be violated", []);
  });
  // All of it in the one file, whatever mode it is in.
  copy.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}
