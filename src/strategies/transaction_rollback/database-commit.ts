import type { StrategyHost } from "../../contract/host.ts";
import type { CommitOptions, TransactionPart } from "../../contract/strategy.ts";
import type { CommitResult } from "../../model/commit-result.ts";
import type { Json } from "../../model/sandbox-ref.ts";
import {
  type CommitRecord,
  type OpenDatabase,
  recordOf,
  requireUndo,
  resultOf,
} from "./commit-record.ts";
import type { BegunTransaction, Direction } from "./engine.ts";
import { asPrepareError, asUndoError, settledByOthers } from "./errors.ts";
import type { LoggedWrite } from "./log-entry.ts";
import type { CommittedMark, DatabasePlace } from "./place.ts";
import { hasEffects } from "./row-changes.ts";

/**
 * The two phases of a commit, or of its undo. What stands prepared on the server is the truth; the marks beside the log
 * only say what was begun, and are written first.
 */
export class DatabaseCommit {
  readonly #host: StrategyHost;
  /** By the folder of the sandbox. */
  readonly #begun = new Map<
    string,
    { readonly log: readonly LoggedWrite[]; readonly transaction: BegunTransaction }
  >();

  constructor(host: StrategyHost) {
    this.#host = host;
  }

  /**
   * Applies the log on the server while the commit of a sandbox is still being recorded; `prepare` takes it over. The
   * plan is locked, so that the log stays as it is.
   */
  goAhead({ place, engine }: OpenDatabase, canPrepare: boolean): AsyncDisposable {
    const log = canPrepare && place.committed() === null ? place.log.writes() : [];
    const transaction = hasEffects(log) ? engine.begin?.(log, "forward") : undefined;
    const { folder } = place;
    if (transaction !== undefined) this.#begun.set(folder, { log, transaction });
    return {
      [Symbol.asyncDispose]: async () => {
        this.#begun.delete(folder);
        await transaction?.[Symbol.asyncDispose]();
      },
    };
  }

  async prepare(
    { place, engine }: OpenDatabase,
    tx: TransactionPart,
    options: CommitOptions,
  ): Promise<Json> {
    const begun = this.#begun.get(place.folder);
    const log = begun?.log ?? place.log.writes();
    if (tx.kind === "undo") requireUndo(place, log);
    const record = recordOf(log, options.message ?? null);
    if (record.noop) return { ...record };
    const name = nameOf(tx);
    const noted = place.mark(name, "preparing");
    noted.catch(() => undefined);
    try {
      const details = { noted, begun: begun?.transaction };
      const transaction = await engine.prepare(log, directionOf(tx), name, details);
      return { ...record, transaction };
    } catch (thrown) {
      await noted;
      throw tx.kind === "undo" ? asUndoError(thrown) : asPrepareError(thrown);
    }
  }

  /** Makes sure that the transaction still stands prepared. */
  async fence({ engine }: OpenDatabase, tx: TransactionPart): Promise<void> {
    if (isNoop(tx)) return;
    const name = nameOf(tx);
    if (!(await engine.isPrepared(name))) throw settledByOthers(name, true);
  }

  async apply(database: OpenDatabase, tx: TransactionPart): Promise<CommitResult> {
    const { place } = database;
    const record = tx.record as unknown as CommitRecord;
    if (!record.noop) {
      const name = nameOf(tx);
      await whileNoted(place, tx.kind === "commit" ? { ulid: tx.ulid, undoable: true } : null, () =>
        this.#commitNamed(database, name, record.transaction ?? null),
      );
      await place.unmark(name);
    }
    return resultOf(database, record, tx.gid, this.#host.clock);
  }

  async abandon(database: OpenDatabase, tx: TransactionPart): Promise<void> {
    const { place } = database;
    const names = [nameOf(tx), wayBack(tx)].filter((name) =>
      place.marks().some((mark) => mark.name === name),
    );
    for (const name of names) {
      // What is taken back already stays so; a transaction that never came to be needs nothing.
      if (await database.engine.isPrepared(name)) await database.engine.settle(name, "ROLLBACK");
      await place.unmark(name);
    }
  }

  /** Takes back what was applied: rolls back what still stands prepared, else commits the opposite. */
  async reverse(database: OpenDatabase, tx: TransactionPart): Promise<void> {
    if (isNoop(tx)) return;
    const { place, engine } = database;
    const [name, back] = [nameOf(tx), wayBack(tx)];
    const stateOf = (wanted: string): string | undefined =>
      place.marks().find((mark) => mark.name === wanted)?.state;
    if (await engine.isPrepared(name)) {
      await place.mark(name, "rolledBack");
      await engine.settle(name, "ROLLBACK");
    } else if (stateOf(name) !== "rolledBack") {
      if (stateOf(back) !== "committing" && !(await engine.isPrepared(back))) {
        await place.mark(back, "preparing");
        const opposite = directionOf(tx) === "forward" ? "backward" : "forward";
        await engine.prepare(place.log.writes(), opposite, back);
      }
      await this.#commitNamed(database, back);
    }
    await place.setCommitted(tx.kind === "commit" ? null : committedBy(tx));
  }

  /** Drops marks that nobody needs any more. */
  async forget({ place }: OpenDatabase, tx: TransactionPart): Promise<void> {
    await place.unmark(nameOf(tx), wayBack(tx));
  }

  /** Rolls back whatever a sandbox that is given up may have left prepared. */
  async release(database: OpenDatabase): Promise<void> {
    for (const { name } of database.place.marks()) {
      if (await database.engine.isPrepared(name)) await database.engine.settle(name, "ROLLBACK");
    }
  }

  /** Whether the last commit could be taken back, tried for real. */
  async checkUndo({ place, engine }: OpenDatabase): Promise<void> {
    const log = place.log.writes();
    requireUndo(place, log);
    try {
      await engine.attempt(log, "backward");
    } catch (thrown) {
      throw asUndoError(thrown);
    }
  }

  /** Commits what stands prepared. The server tells how one ended that is settled; where it cannot, a mark does. */
  async #commitNamed(
    { place, engine }: OpenDatabase,
    name: string,
    transaction: string | null = null,
  ): Promise<void> {
    const mark = place.marks().find((one) => one.name === name);
    // Without a mark it is settled already, and forgotten.
    if (mark === undefined) return;
    const wasBegun = mark.state === "committing";
    if (transaction === null && !wasBegun) await place.mark(name, "committing");
    if (await engine.settle(name, "COMMIT")) return;
    const isOurs =
      transaction === null ? wasBegun : ((await engine.hasCommitted?.(transaction)) ?? wasBegun);
    if (!isOurs) throw settledByOthers(name, false);
  }
}

/** Notes what the log is published by while that is being done: it is decided, and only a failure takes the note back. */
async function whileNoted(
  place: DatabasePlace,
  mark: CommittedMark | null,
  work: () => Promise<void>,
): Promise<void> {
  const before = place.committed();
  const noted = place.setCommitted(mark);
  noted.catch(() => undefined);
  try {
    await work();
  } catch (thrown) {
    // Should this fail too, whoever goes on, or back, notes it anew.
    await noted.then(() => place.setCommitted(before)).catch(() => undefined);
    throw thrown;
  }
  await noted;
}

function nameOf({ gid, member }: TransactionPart): string {
  return `${gid}:${member}`;
}

function wayBack(tx: TransactionPart): string {
  return `${nameOf(tx)}:back`;
}

function directionOf({ kind }: TransactionPart): Direction {
  return kind === "undo" ? "backward" : "forward";
}

function committedBy({ undoes }: TransactionPart): CommittedMark {
  return { ulid: undoes?.ulid ?? "", undoable: true };
}

function isNoop({ record }: TransactionPart): boolean {
  return (record as unknown as CommitRecord | null)?.noop === true;
}
