import type { StrategyHost } from "../../contract/host.ts";
import type { CommitOptions, TransactionPart } from "../../contract/strategy.ts";
import { type Draft, dropDrafts } from "../../journal/durable-file.ts";
import type { CommitResult } from "../../model/commit-result.ts";
import type { Json } from "../../model/sandbox-ref.ts";
import {
  type CommitRecord,
  type OpenDatabase,
  recordOf,
  requireUndo,
  resultOf,
} from "./commit-record.ts";
import { type BegunTransaction, type Direction, DriftError, UnsentError } from "./engine.ts";
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

  /** Marks of commits that only lack their names, by the name of the transaction. */
  readonly #drafts = new Map<string, Draft>();

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
    const noted =
      tx.kind === "commit"
        ? place.markPreparing(name, committedIn(tx))
        : place.mark(name, "preparing").then(() => undefined);
    noted.catch(() => undefined);
    try {
      const details = { noted, begun: begun?.transaction };
      const transaction = await engine.prepare(log, directionOf(tx), name, details);
      const draft = await noted;
      if (draft !== undefined) this.#drafts.set(name, draft);
      return { ...record, transaction };
    } catch (thrown) {
      const draft = await noted;
      if (draft !== undefined) dropDrafts([draft]);
      const cause = await settleUnsent(place, name, thrown);
      throw tx.kind === "undo" ? asUndoError(cause, engine) : asPrepareError(cause);
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
      const draft = this.#takeDraft(name);
      await whileNoted(place, tx.kind === "commit" ? committedIn(tx) : null, draft, () =>
        this.#commitNamed(database, name, directionOf(tx), record.transaction ?? null),
      );
      await place.unmark(name);
    }
    return resultOf(database, record, tx.gid, this.#host.clock);
  }

  async abandon(database: OpenDatabase, tx: TransactionPart): Promise<void> {
    const { place } = database;
    this.#dropDrafts(place, tx);
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
      const opposite = oppositeOf(directionOf(tx));
      if (stateOf(back) !== "committing" && !(await engine.isPrepared(back))) {
        await place.mark(back, "preparing");
        try {
          await engine.prepare(place.log.writes(), opposite, back);
        } catch (thrown) {
          throw await settleUnsent(place, back, thrown);
        }
      }
      await this.#commitNamed(database, back, opposite);
    }
    await place.setCommitted(tx.kind === "commit" ? null : committedBy(tx));
  }

  /** Drops marks that nobody needs any more. */
  async forget({ place }: OpenDatabase, tx: TransactionPart): Promise<void> {
    this.#dropDrafts(place, tx);
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
      throw asUndoError(thrown, engine);
    }
  }

  #takeDraft(name: string): Draft | undefined {
    const draft = this.#drafts.get(name);
    this.#drafts.delete(name);
    return draft;
  }

  /** Drops what this process, or one that was killed, had ready for the second phase. */
  #dropDrafts(place: DatabasePlace, tx: TransactionPart): void {
    const draft = this.#takeDraft(nameOf(tx));
    if (draft !== undefined) dropDrafts([draft]);
    if (tx.recovering === true) place.sweep();
  }

  /** Commits what stands prepared. The server tells how one ended that is settled; where it cannot, marks and rows do. */
  async #commitNamed(
    database: OpenDatabase,
    name: string,
    direction: Direction,
    transaction: string | null = null,
  ): Promise<void> {
    const { place, engine } = database;
    const mark = place.marks().find((one) => one.name === name);
    // Without a mark it is settled already, and forgotten.
    if (mark === undefined) return;
    if (mark.state === "rolledBack") throw settledByOthers(name, false);
    const wasBegun = mark.state === "committing";
    if (transaction === null && !wasBegun) await place.mark(name, "committing");
    if (await engine.settle(name, "COMMIT")) return;
    const isOurs =
      transaction === null
        ? wasBegun && (await isDone(database, direction))
        : ((await engine.hasCommitted?.(transaction)) ?? wasBegun);
    if (isOurs) return;
    // Known only now: whoever tries again would take the mark above for that of a commit, and there is nothing to take back.
    await place.mark(name, "rolledBack");
    throw settledByOthers(name, false);
  }
}

/** What kept a transaction from being prepared; where the server was not asked to, nobody needs to ask it about that. */
async function settleUnsent(place: DatabasePlace, name: string, thrown: unknown): Promise<unknown> {
  if (!(thrown instanceof UnsentError)) return thrown;
  // With the mark still there somebody asks all the same.
  await place.unmark(name).catch(() => undefined);
  return thrown.cause;
}

/**
 * Whether a commit that was begun, and of which the server knows nothing any more, took place: the rows are as it leaves
 * them. Where others have changed them since, nobody can tell, and most commits that are begun do.
 */
async function isDone({ place, engine }: OpenDatabase, direction: Direction): Promise<boolean> {
  const log = place.log.writes();
  const fits = async (way: Direction): Promise<boolean> => {
    try {
      await engine.attempt(log, way);
      return true;
    } catch (thrown) {
      if (thrown instanceof DriftError) return false;
      throw thrown;
    }
  };
  return (await fits(oppositeOf(direction))) || !(await fits(direction));
}

/** Notes what the log is published by while that is being done: it is decided, and only a failure takes the note back. */
async function whileNoted(
  place: DatabasePlace,
  mark: CommittedMark | null,
  draft: Draft | undefined,
  work: () => Promise<void>,
): Promise<void> {
  const before = place.committed();
  const noted = place.setCommitted(mark, draft);
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

function oppositeOf(direction: Direction): Direction {
  return direction === "forward" ? "backward" : "forward";
}

function committedIn({ ulid }: TransactionPart): CommittedMark {
  return { ulid, undoable: true };
}

function committedBy({ undoes }: TransactionPart): CommittedMark {
  return { ulid: undoes?.ulid ?? "", undoable: true };
}

function isNoop({ record }: TransactionPart): boolean {
  return (record as unknown as CommitRecord | null)?.noop === true;
}
