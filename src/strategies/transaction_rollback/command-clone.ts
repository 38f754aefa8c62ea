import type { StrategyHost } from "../../contract/host.ts";
import type { SandboxAddress } from "../../contract/strategy.ts";
import { DatabaseError } from "../../errors/index.ts";
import type { DatabaseClones } from "./clones.ts";
import type { OpenDatabase } from "./commit-record.ts";
import type { DatabaseCloneCalls, RecordedStatements } from "./engine.ts";
import { asDatabaseError } from "./errors.ts";
import { type CloneNames, cloneNames, untakenName } from "./lent-clone.ts";
import { databaseOf, isGone } from "./ref-facts.ts";
import { hasEffects } from "./row-changes.ts";

/** The name of the write that a command's edits become. */
const NAME = "command";

/** Makes a clone that shows what a sandbox shows, for a command, and another one to compare with afterwards. */
export async function beginClone(
  database: OpenDatabase,
  clones: DatabaseClones,
  host: StrategyHost,
): Promise<SandboxAddress> {
  const { place } = database;
  const { shown, before } = namesOf(database);
  await place.clone.note({ write: host.ids.next(), isWhole: false });
  try {
    const calls = callsOf(database);
    await calls.requireComparable();
    const source = await calls.source();
    await clones.make(source, shown);
    const url = clones.urlOf(source, shown);
    const log = place.log.writes();
    if (log.length > 0) await calls.apply(log, url);
    await clones.make(url, before);
    await place.clone.note({ isWhole: true });
    return clones.addressOf(url);
  } catch (thrown) {
    // What cannot be removed now is removed by the next call, which finds it noted.
    await dropLent(database, clones).catch(() => undefined);
    throw asDatabaseError(thrown, "getPath");
  }
}

/** Makes the difference between the two clones a write of the log, then removes them. */
export async function endClone(
  database: OpenDatabase,
  clones: DatabaseClones,
  host: StrategyHost,
): Promise<void> {
  const { clone, log } = database.place;
  const { write, isWhole } = clone.record();
  if (write === null) return;
  // Another process may have been killed right after the log had it.
  if (isWhole && !log.endsWith(write)) await take(database, clones, host);
  await dropLent(database, clones);
}

/** Removes the clones of a command, with its edits. Asks no server when there are none. */
export async function dropLent(database: OpenDatabase, clones: DatabaseClones): Promise<void> {
  const { clone } = database.place;
  if (clone.record().write === null) return;
  const source = await callsOf(database).source();
  const { shown, before, taken } = namesOf(database);
  for (const name of [shown, before, taken]) await clones.remove(source, name);
  await clone.note({ write: null, isWhole: false });
}

/** Removes every clone that a sandbox may have on the server, also those whose edits could not be taken. */
export async function dropClones(database: OpenDatabase, clones: DatabaseClones): Promise<void> {
  const { clone } = database.place;
  await dropLent(database, clones);
  const { aside } = clone.record();
  if (aside.length === 0) return;
  const source = await callsOf(database).source();
  for (const name of aside) await clones.remove(source, name);
  await clone.note({ aside: [] });
}

/** Reasons for which nobody can be asked any more; another database of the name may be on another server. */
const GONE: ReadonlySet<string> = new Set(["unreachable", "otherDatabase"]);

/** As `dropClones`, but where the database is gone, or its server, its clones are given up, and that is told. */
export async function giveClonesUp(
  database: OpenDatabase,
  clones: DatabaseClones,
  host: StrategyHost,
): Promise<void> {
  try {
    await dropClones(database, clones);
  } catch (thrown) {
    const isTold = thrown instanceof DatabaseError && GONE.has(thrown.data.reason);
    if (!isTold && !isGone(database.ref, host)) throw thrown;
    const { shown } = namesOf(database);
    const { sandboxId } = database.ref;
    host.emit("sandbox.clonesLeft", { sandboxId, names: `${shown}*` }, "warning");
  }
}

async function take(
  database: OpenDatabase,
  clones: DatabaseClones,
  host: StrategyHost,
): Promise<void> {
  const { clone, log } = database.place;
  const { write } = clone.record();
  const recorded = await compared(database, clones);
  const one = { name: NAME, at: host.clock.now().toISOString(), ...recorded };
  const isChange = hasEffects([one]) || Object.keys(recorded.sequences).length > 0;
  if (isChange && write !== null) await log.append(write, one);
}

async function compared(
  database: OpenDatabase,
  clones: DatabaseClones,
): Promise<RecordedStatements> {
  const names = namesOf(database);
  const calls = callsOf(database);
  const source = await calls.source();
  if (!(await clones.rename(source, names.shown, names.taken))) {
    await dropLent(database, clones);
    throw untaken("the command dropped the database", null);
  }
  try {
    return await calls.compare(
      clones.urlOf(source, names.before),
      clones.urlOf(source, names.taken),
    );
  } catch (thrown) {
    if (!(thrown instanceof DatabaseError) || thrown.data.reason !== "notCaptured") throw thrown;
    throw untaken(thrown.message, await setAside(database, clones), thrown);
  }
}

/** Puts the clone out of the way of later calls, and gives its name from now on. */
async function setAside(database: OpenDatabase, clones: DatabaseClones): Promise<string> {
  const { clone } = database.place;
  const { write, aside } = clone.record();
  const names = namesOf(database);
  const name = untakenName(names, write ?? "");
  await clone.note({ aside: [...aside.filter((other) => other !== name), name] });
  await clones.rename(await callsOf(database).source(), names.taken, name);
  await dropLent(database, clones);
  return name;
}

function untaken(why: string, keptAt: string | null, cause?: DatabaseError): DatabaseError {
  const instead = cause?.hint ?? null;
  const kept = `What it worked on is the database ${keptAt ?? ""} of the same server, until the plan is cleaned up; the sandbox is as before the command.`;
  return new DatabaseError(
    `What the command did to the database was not taken into the sandbox: ${why}`,
    {
      data: {
        reason: "notCaptured",
        position: null,
        command: null,
        sqlState: null,
        ...(keptAt !== null && { keptAt }),
      },
      operation: "getPath",
      hint:
        keptAt === null
          ? "The sandbox is as before the command."
          : [instead, kept].filter((text) => text !== null).join(" "),
      cause,
    },
  );
}

function namesOf({ ref }: OpenDatabase): CloneNames {
  return cloneNames(databaseOf(ref), ref.sandboxId);
}

function callsOf({ engine }: OpenDatabase): DatabaseCloneCalls {
  if (engine.clone === undefined)
    throw new TypeError("the database cannot be compared with a clone");
  return engine.clone;
}
