import type { StrategyHost } from "../../contract/host.ts";
import type { CommitOptions, TransactionPart } from "../../contract/strategy.ts";
import type { CommitResult } from "../../model/commit-result.ts";
import type { Json, SandboxRef } from "../../model/sandbox-ref.ts";
import type { DatabaseEngine, Direction } from "./engine.ts";
import { asPrepareError, asUndoError, settledByOthers, undoRefused } from "./errors.ts";
import type { LoggedWrite } from "./log-entry.ts";
import type { CommittedMark, DatabasePlace } from "./place.ts";
import { hasEffects, rowChanges } from "./row-changes.ts";

/** What a prepared commit tells later. */
interface CommitRecord {
  readonly noop: boolean;
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly deleted: readonly string[];
  readonly message: string | null;
  /** Whether the schema is changed, which has no way back. */
  readonly schema: boolean;
}

/** One sandbox with its server. */
export interface OpenDatabase {
  readonly ref: SandboxRef;
  readonly place: DatabasePlace;
  readonly engine: DatabaseEngine;
}

/**
 * The two phases of a commit, or of its undo. What stands prepared on the server is the truth; the marks beside the log
 * only say what was begun, and are written first.
 */
export class DatabaseCommit {
  readonly #host: StrategyHost;

  constructor(host: StrategyHost) {
    this.#host = host;
  }

  async prepare(
    { place, engine }: OpenDatabase,
    tx: TransactionPart,
    options: CommitOptions,
  ): Promise<Json> {
    const log = place.log.writes();
    if (tx.kind === "undo") requireUndo(place, log);
    const record = recordOf(log, options.message ?? null);
    if (record.noop) return { ...record };
    const name = nameOf(tx);
    await place.mark(name, "preparing");
    try {
      await engine.prepare(log, directionOf(tx), name);
    } catch (thrown) {
      throw tx.kind === "undo" ? asUndoError(thrown) : asPrepareError(thrown);
    }
    return { ...record };
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
      await this.#commitNamed(database, nameOf(tx));
      await place.setCommitted(tx.kind === "commit" ? { ulid: tx.ulid, undoable: true } : null);
      await place.unmark(nameOf(tx));
    }
    return this.#result(database, tx, record);
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

  async #commitNamed({ place, engine }: OpenDatabase, name: string): Promise<void> {
    const isBegun = place.marks().some((mark) => mark.name === name && mark.state === "committing");
    if (!isBegun && !(await engine.isPrepared(name))) {
      const isDone = !place.marks().some((mark) => mark.name === name);
      if (!isDone) throw settledByOthers(name, false);
      return;
    }
    if (!isBegun) await place.mark(name, "committing");
    await engine.settle(name, "COMMIT");
  }

  #result({ ref, place }: OpenDatabase, tx: TransactionPart, record: CommitRecord): CommitResult {
    const { noop, added, changed, deleted, message, schema } = record;
    return {
      success: true,
      sandboxId: ref.sandboxId,
      strategyName: ref.strategyName,
      added,
      changed,
      deleted,
      noop,
      message,
      revision: noop ? null : tx.gid,
      committedAt: this.#host.clock.now().toISOString(),
      undoable: undoableBy(place, noop, schema),
      warnings: [],
      metadata: {},
    };
  }
}

function recordOf(log: readonly LoggedWrite[], message: string | null): CommitRecord {
  const changes = rowChanges(log).map(({ change }) => change);
  const paths = (kind: string): string[] =>
    changes
      .filter((change) => change.kind === kind)
      .map(({ path }) => path)
      .sort();
  return {
    noop: !hasEffects(log),
    added: paths("added"),
    changed: paths("modified"),
    deleted: paths("deleted"),
    message,
    schema: changesSchema(log),
  };
}

function changesSchema(log: readonly LoggedWrite[]): boolean {
  return log.some(({ statements }) => statements.some(({ kind }) => kind === "schema"));
}

function undoableBy(
  place: DatabasePlace,
  noop: boolean,
  schema: boolean,
): CommitResult["undoable"] {
  if (noop) return { possible: true, by: "nothing was applied" };
  if (schema) return { possible: false, by: "the schema was changed" };
  return { possible: true, by: "recorded rows", path: place.folder, bytes: place.log.size() };
}

function requireUndo(place: DatabasePlace, log: readonly LoggedWrite[]): void {
  if (place.committed()?.undoable !== true)
    throw undoRefused("undoDataMissing", "There is no record of the commit; nothing was changed");
  if (changesSchema(log))
    throw undoRefused(
      "notUndoable",
      "The commit changed the schema, which cannot be taken back row by row; nothing was changed",
    );
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
