import type { StrategyHost } from "../../contract/host.ts";
import type { SandboxCopy } from "../../contract/strategy.ts";
import { DatabaseError } from "../../errors/index.ts";
import type { OpenDatabase } from "./commit-record.ts";
import type { DatabaseFileCalls } from "./engine.ts";
import { asDatabaseError } from "./errors.ts";
import type { LentRecord } from "./lent-copy.ts";
import { hasEffects } from "./row-changes.ts";

/** The name of the write that a command's edits become. */
const NAME = "command";

/** Makes a private copy of what a sandbox shows, for a command. */
export async function beginCopy(database: OpenDatabase, host: StrategyHost): Promise<SandboxCopy> {
  const { place } = database;
  const file = fileOf(database);
  const location = file.location();
  try {
    const shown = await place.lent.make(location, host.ids.next(), (target) =>
      file.copy(place.log.writes(), target),
    );
    return { location, file: shown };
  } catch (thrown) {
    place.lent.remove();
    throw asDatabaseError(thrown, "getPath");
  }
}

/** Makes the difference between the copy and what it was a write of the log, then removes it. */
export async function endCopy(database: OpenDatabase, host: StrategyHost): Promise<void> {
  const { lent, log } = database.place;
  const record = lent.record();
  // Another process may have been killed right after the log had it.
  if (record !== null && !log.endsWith(record.write) && !lent.isUntouched(record))
    await take(database, record, host.clock.now().toISOString());
  lent.remove();
}

async function take(database: OpenDatabase, record: LentRecord, at: string): Promise<void> {
  const { lent, log } = database.place;
  try {
    const recorded = await fileOf(database).compare(lent.before, lent.shown(record));
    const write = { name: NAME, at, ...recorded };
    const isChange = hasEffects([write]) || Object.keys(recorded.sequences).length > 0;
    if (isChange) await log.append(record.write, write);
  } catch (thrown) {
    if (!(thrown instanceof DatabaseError) || thrown.data.reason !== "notCaptured") throw thrown;
    const keptAt = lent.setAside(record);
    throw new DatabaseError(
      `What the command did to the database was not taken into the sandbox: ${thrown.message}`,
      {
        data: { ...thrown.data, keptAt },
        operation: "getPath",
        hint: `The copy that it worked on is ${keptAt}, until the plan is cleaned up; the sandbox is as before the command.`,
        cause: thrown,
      },
    );
  }
}

function fileOf({ engine }: OpenDatabase): DatabaseFileCalls {
  if (engine.file === undefined) throw new TypeError("the database is not one file");
  return engine.file;
}
