import type { StrategyHost } from "../../contract/host.ts";
import type { CommitOptions, TransactionPart } from "../../contract/strategy.ts";
import type { ErrorContext } from "../../errors/index.ts";
import type { CommitResult } from "../../model/commit-result.ts";
import { type OpenDatabase, recordOf, requireUndo, resultOf } from "./commit-record.ts";
import { type Direction, DriftError, UnsentError } from "./engine.ts";
import { asPrepareError, asSettledUndoError, asUndoError, outcomeUnknown } from "./errors.ts";
import { hasEffects } from "./row-changes.ts";

const UNDO = ":undo";

/**
 * Commits on a server that cannot prepare. Its own commit carries a row with the decision, so that the outcome can be
 * looked up whatever was cut, and the first of two who decide wins.
 */
export class DecidingCommit {
  readonly #host: StrategyHost;
  /** Transactions that no server was asked to commit. */
  readonly #unsent = new Set<string>();

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
    if (failure !== null) throw asSettledUndoError(failure.thrown, database.engine);
  }

  /** Whether the last commit of a sandbox that was alone happened. */
  async outcome(database: OpenDatabase): Promise<"committed" | "aborted"> {
    await this.#settle(database);
    return database.place.committed() === null ? "aborted" : "committed";
  }

  /** Commits databases of one group, or takes them back, as the decision of a whole plan. */
  async commitDeciding(
    databases: readonly [OpenDatabase, ...OpenDatabase[]],
    tx: TransactionPart,
  ): Promise<readonly CommitResult[]> {
    const isUndo = tx.kind === "undo";
    const parts = databases.map((database) => {
      const log = database.place.log.writes();
      if (isUndo) requireUndo(database.place, log);
      return { database, log, engine: database.engine };
    });
    try {
      const [first, ...others] = parts;
      await first?.engine.commitMarked(first.log, isUndo ? "backward" : "forward", tx.gid, others);
    } catch (thrown) {
      const cause = causeOf(thrown);
      if (cause !== thrown) this.#unsent.add(tx.gid);
      const [{ engine }] = databases;
      const error = isUndo ? asUndoError(cause, engine) : asPrepareError(cause);
      throw error.inContext(contextOf(databases, cause));
    }
    const results: CommitResult[] = [];
    for (const { database, log } of parts) {
      await this.#note(database, isUndo, tx.ulid);
      results.push(resultOf(database, recordOf(log, null), tx.gid, this.#host.clock));
    }
    return results;
  }

  /** What was decided; when nothing was, that it is given up. */
  async decided(
    databases: readonly OpenDatabase[],
    { gid }: TransactionPart,
  ): Promise<"COMMIT" | "ABORT"> {
    if (this.#unsent.has(gid)) return "ABORT";
    const decisions: ("COMMIT" | "ABORT")[] = [];
    // Each is asked, so that each settles what a crash has left of it.
    for (const { engine } of databases) decisions.push(await engine.decide(gid, "ABORT"));
    return decisions.includes("COMMIT") ? "COMMIT" : "ABORT";
  }

  /** Notes a decision of a plan beside the log, then drops it on the server. */
  async forget(database: OpenDatabase, tx: TransactionPart): Promise<void> {
    const { engine } = database;
    if (this.#unsent.has(tx.gid)) return;
    if (!isNoted(database, tx)) {
      const decision = await engine.decisionOf(tx.gid);
      if (decision === null) return;
      if (decision === "COMMIT") await this.#note(database, tx.kind === "undo", tx.ulid);
    }
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
      failure = { thrown: causeOf(thrown) };
      if (failure.thrown !== thrown) {
        await place.unmark(name);
        return failure;
      }
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
    // Where nothing was published there is nothing to take back.
    if (!hasEffects(place.log.writes())) return;
    await place.setCommitted(isUndo ? null : { ulid, undoable: true });
  }
}

/** What an error is about; another one than it is itself where the server was not asked to commit. */
function causeOf(thrown: unknown): unknown {
  return thrown instanceof UnsentError ? thrown.cause : thrown;
}

/** Which of the databases an error is about, where it says so. */
function contextOf(databases: readonly OpenDatabase[], thrown: unknown): ErrorContext {
  if (!(thrown instanceof DriftError)) return {};
  const found = databases.find(({ ref }) => ref.baseFingerprintId === thrown.database);
  return found === undefined ? {} : { sandboxId: found.ref.sandboxId };
}

/** Whether the place beside the log says already what a commit, or an undo, has made of it. */
function isNoted({ place }: OpenDatabase, { kind, ulid }: TransactionPart): boolean {
  const committed = place.committed();
  return kind === "undo" ? committed === null : committed?.ulid === ulid;
}
