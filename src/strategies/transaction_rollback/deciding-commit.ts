import type { StrategyHost } from "../../contract/host.ts";
import type { CommitOptions, TransactionPart } from "../../contract/strategy.ts";
import type { CommitResult } from "../../model/commit-result.ts";
import { type OpenDatabase, recordOf, requireUndo, resultOf } from "./commit-record.ts";
import type { Direction } from "./engine.ts";
import { asPrepareError, asUndoError, outcomeUnknown } from "./errors.ts";

const UNDO = ":undo";

/**
 * Commits on a server that cannot prepare. Its own commit carries a row with the decision, so that the outcome can be
 * looked up whatever was cut, and the first of two who decide wins.
 */
export class DecidingCommit {
  readonly #host: StrategyHost;

  constructor(host: StrategyHost) {
    this.#host = host;
  }

  /** Commits one sandbox alone. */
  async commit(database: OpenDatabase, options: CommitOptions): Promise<CommitResult> {
    await this.#settle(database);
    const { ref, place } = database;
    const record = recordOf(place.log.writes(), options.message ?? null);
    const name = `coffer1:${ref.sandboxId}:${this.#host.ids.next()}`;
    if (!record.noop) {
      const failure = await this.#decideAlone(database, "forward", name);
      if (failure !== null) throw asPrepareError(failure.thrown);
    }
    return resultOf(database, record, name, this.#host.clock);
  }

  /** Takes the last commit back; nothing when there is none. */
  async undo(database: OpenDatabase): Promise<void> {
    await this.#settle(database);
    const { ref, place } = database;
    if (place.committed() === null) return;
    requireUndo(place, place.log.writes());
    const name = `coffer1:${ref.sandboxId}:${this.#host.ids.next()}${UNDO}`;
    const failure = await this.#decideAlone(database, "backward", name);
    if (failure !== null) throw asUndoError(failure.thrown);
  }

  /** Whether the last commit of a sandbox that was alone happened. */
  async outcome(database: OpenDatabase): Promise<"committed" | "aborted"> {
    await this.#settle(database);
    return database.place.committed() === null ? "aborted" : "committed";
  }

  /** Commits, or takes back, as the decision of a whole plan. */
  async commitDeciding(database: OpenDatabase, tx: TransactionPart): Promise<CommitResult> {
    const { place, engine } = database;
    const log = place.log.writes();
    if (tx.kind === "undo") requireUndo(place, log);
    try {
      await engine.commitMarked(log, tx.kind === "undo" ? "backward" : "forward", tx.gid);
    } catch (thrown) {
      throw tx.kind === "undo" ? asUndoError(thrown) : asPrepareError(thrown);
    }
    const record = recordOf(log, null);
    await this.#note(database, tx.kind === "undo", tx.ulid);
    return resultOf(database, { ...record, noop: false }, tx.gid, this.#host.clock);
  }

  /** What was decided; when nothing was, that it is given up. */
  decided({ engine }: OpenDatabase, { gid }: TransactionPart): Promise<"COMMIT" | "ABORT"> {
    return engine.decide(gid, "ABORT");
  }

  /** Notes a decision of a plan beside the log, then drops it on the server. */
  async forget(database: OpenDatabase, tx: TransactionPart): Promise<void> {
    const { engine } = database;
    const decision = await engine.decisionOf(tx.gid);
    if (decision === null) return;
    if (decision === "COMMIT") await this.#note(database, tx.kind === "undo", tx.ulid);
    await engine.forgetDecision(tx.gid);
  }

  /** Gives what was thrown when the decision is not to commit; null when it is done. */
  async #decideAlone(
    database: OpenDatabase,
    direction: Direction,
    name: string,
  ): Promise<{ readonly thrown: unknown } | null> {
    const { place, engine } = database;
    await place.mark(name, "committing");
    let failure: { readonly thrown: unknown } | null = null;
    try {
      await engine.commitMarked(place.log.writes(), direction, name);
    } catch (thrown) {
      failure = { thrown };
    }
    try {
      const isDone = failure === null || (await engine.decide(name, "ABORT")) === "COMMIT";
      await this.#finish(database, name, isDone);
      return isDone ? null : failure;
    } catch (cause) {
      throw outcomeUnknown(cause);
    }
  }

  /** Finds out what became of calls that were interrupted. */
  async #settle(database: OpenDatabase): Promise<void> {
    for (const { name } of database.place.marks()) {
      const decision = await database.engine.decide(name, "ABORT");
      await this.#finish(database, name, decision === "COMMIT");
    }
  }

  async #finish(database: OpenDatabase, name: string, isDone: boolean): Promise<void> {
    if (isDone) await this.#note(database, name.endsWith(UNDO), name);
    await database.engine.forgetDecision(name);
    await database.place.unmark(name);
  }

  async #note({ place }: OpenDatabase, isUndo: boolean, ulid: string): Promise<void> {
    await place.setCommitted(isUndo ? null : { ulid, undoable: true });
  }
}
