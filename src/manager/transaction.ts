import type { CommitOptions } from "../contract/strategy.ts";
import {
  SandboxCommitError,
  type SandboxError,
  SandboxRollbackError,
  describeThrown,
} from "../errors/index.ts";
import type { OpenTransaction } from "../journal/open-transaction.ts";
import type { Decision, Done, TransactionKind } from "../journal/transaction-record.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { CommitResult } from "../model/commit-result.ts";
import type { Json } from "../model/sandbox-ref.ts";
import { type Engine, timestamp } from "./engine.ts";
import { restated, rollbackError, undoDataOf } from "./failures.ts";
import { holdSignals } from "./hold-signals.ts";
import { noteRecorded } from "./recorded-results.ts";
import { lockResources } from "./resource-locks.ts";
import {
  type Member,
  type MemberContext,
  type MemberProgress,
  Members,
  intentOf,
} from "./transaction-members.ts";

/** A transaction to be run. */
export interface TransactionJob {
  readonly ulid: string;
  readonly kind: TransactionKind;
  readonly members: readonly Member[];
  readonly options: CommitOptions;
  /** The plan whose listeners hear how far it is; nobody does unless given. */
  readonly planId?: string;
  /** Is told how far it came. */
  readonly progress?: MemberProgress;
  /** The record of a member's sandbox once that is committed so; written with the outcome. */
  readonly recordBy?: RecordBy;
}

/** The record of the sandbox of one member, by its number, after a commit with this result. */
export type RecordBy = (at: number, result: CommitResult) => SandboxRecord;

/** The name of a transaction for databases: unique for ever, at most 64 bytes. */
export function gidOf(engine: Engine, ulid: string): string {
  return `coffer1:${engine.state.installId}:${ulid}`;
}

/**
 * Runs a transaction: prepares every member, decides once, applies. A failure up to the decision leaves every resource
 * untouched and the edits in the sandboxes; a failure after it is tried again, then taken back. What can be neither
 * applied nor taken back stays as it is, with everything needed to settle it, for `recover`.
 */
export async function runTransaction(
  engine: Engine,
  job: TransactionJob,
): Promise<readonly (CommitResult | null)[]> {
  using hold = holdSignals();
  const context = { gid: gidOf(engine, job.ulid), ulid: job.ulid, kind: job.kind };
  const tell = teller(engine, job);
  const members = new Members(context, job.members, job.progress, (phase, done) =>
    tell("plan.advanced", { phase, done }),
  );
  const signals = [hold.interrupted, ...(job.options.signal ? [job.options.signal] : [])];
  const signal = AbortSignal.any(signals);
  const locations = job.members.map(({ location }) => location);
  await using _locks = await lockResources(engine, locations, signal);
  const details = { message: job.options.message ?? null, at: timestamp(engine) };
  const intent = intentOf("preparing", context, members.intents, details);
  await using transaction = await engine.log.begin(job.ulid, intent);
  const run = new TransactionRun(
    engine,
    transaction,
    context,
    members,
    details.message,
    job.recordBy,
  );
  // Awaited here: without it the locks would be given back while the transaction runs.
  return await run.run({ ...job.options, signal }, tell);
}

const WARNINGS = {
  apply: "The commit is decided, but not all of it is in place",
  finish: "The commit is complete, its clean-up is not",
} as const;

type Tell = (name: string, data?: { readonly [key: string]: Json }) => void;

function teller(engine: Engine, { planId, ulid, kind, members }: TransactionJob): Tell {
  if (planId === undefined) return () => undefined;
  const about = { planId, transaction: ulid, kind, members: members.length };
  return (name, data = {}) => engine.emit(name, { ...about, ...data });
}

/** What the members answered; null for one whose answer went with the process that asked. */
type Results = readonly (CommitResult | null)[];

/** The steps of a transaction whose lock is held; recovery uses the same ones. */
export class TransactionRun {
  readonly #engine: Engine;
  readonly #transaction: OpenTransaction;
  readonly #context: MemberContext;
  readonly #members: Members;
  readonly #message: string | null;
  readonly #recordBy: RecordBy | undefined;
  #obstacle: unknown = null;

  constructor(
    engine: Engine,
    transaction: OpenTransaction,
    context: MemberContext,
    members: Members,
    message: string | null,
    recordBy?: RecordBy,
  ) {
    this.#engine = engine;
    this.#transaction = transaction;
    this.#context = context;
    this.#members = members;
    this.#message = message;
    this.#recordBy = recordBy;
  }

  /** What kept it from being finished or cleared away, although nothing was thrown; null when nothing did. */
  get obstacle(): unknown {
    return this.#obstacle;
  }

  /** The whole way, from the first prepare on. */
  async run(options: CommitOptions, tell: Tell): Promise<Results> {
    const check = (): void => refuseInterrupted(this.#context.kind, options.signal);
    try {
      await this.#members.prepare(options, check);
      if (this.#members.isNoop) return await this.#endNoop();
      const details = { message: this.#message, at: timestamp(this.#engine) };
      const { intents } = this.#members;
      await this.#transaction.writeIntent(intentOf("prepared", this.#context, intents, details));
      tell("plan.prepared");
      await this.#members.fence(options, check);
      await this.#members.commitEarly(options, check);
      check();
    } catch (thrown) {
      await this.abort();
      throw thrown;
    }
    await this.#decide();
    tell("plan.decided");
    return this.apply("takeBack");
  }

  /**
   * Follows the decision to commit. A member that fails twice is taken back with all others, or left to recovery. Where
   * a member has decided there is no way back: the others are applied all the same, and recovery does the rest.
   */
  async apply(onFailure: "takeBack" | "leave"): Promise<Results> {
    const results: (CommitResult | null)[] = Array.from(
      { length: this.#members.count },
      () => null,
    );
    const failures: unknown[] = [];
    for (const at of this.#members.applyOrder) {
      try {
        results[at] = await this.#applyPersistently(at);
      } catch (thrown) {
        this.#members.noteFailure(at, thrown);
        failures.push(thrown);
        if (onFailure === "leave" || this.#members.hasDeciding) continue;
        if (this.#canOnlyGoOn(at, thrown)) throw this.#left(thrown, false);
        await this.#takeBack(this.#members.isLate(at) ? 0 : at + 1, thrown);
      }
    }
    if (failures.length === 0) return this.#finishCommitted(results);
    if (onFailure === "leave") throw failures[0];
    return this.#warned("apply", failures[0], results);
  }

  /**
   * What counts for a transaction without a decision on disk: what its members have decided, and otherwise that it is
   * given up. `isPrepared` says that they may have.
   */
  async settleDecision(isPrepared: boolean): Promise<Decision> {
    const mayBeDecided = isPrepared && this.#members.hasDeciding;
    return this.#transaction.decide(mayBeDecided ? await this.#members.decided() : "ABORT");
  }

  /**
   * Undoes what was prepared, and what early members committed; `mayHaveRun` says that nobody knows whether they did.
   * Nothing else was applied. What cannot be undone now is left to recovery.
   */
  async abort(mayHaveRun = false): Promise<void> {
    try {
      await this.#transaction.decide("ABORT");
    } catch {
      // Presumed abort: where no decision can be written, its absence says the same.
    }
    try {
      const [failure] = await this.#members.undoEarly(mayHaveRun);
      if (failure === undefined) await this.#endAborted();
      else this.#pending("undoEarly", failure);
    } catch (thrown) {
      this.#pending("abandon", thrown);
    }
  }

  /** Finishes taking back what was applied; the mark for it is durable already. */
  async reverse(count?: number): Promise<void> {
    await this.#members.reverse(count);
    await this.#transaction.finish(this.#done("aborted", []));
    await this.#endAborted();
  }

  /** Clears away a transaction whose outcome is recorded. */
  async clear(outcome: Done["outcome"]): Promise<void> {
    if (outcome === "aborted") await this.#endAborted();
    else await this.#endCommitted();
  }

  async #decide(): Promise<void> {
    if (this.#members.hasDeciding) return this.#letMembersDecide();
    try {
      if ((await this.#transaction.decide("COMMIT")) === "COMMIT") return;
    } catch (thrown) {
      // Once the name is there, a power loss alone decides whether it counts: only recovery may follow it. Nobody has
      // touched the resource, but recovery will publish: it would be a lie to say that everything is as before.
      if (this.#isDecided()) throw this.#left(thrown, false);
      await this.abort();
      throw thrown;
    }
    await this.abort();
    throw this.#left(new Error("the transaction was given up by somebody else"), true);
  }

  async #letMembersDecide(): Promise<void> {
    try {
      await this.#members.commitDeciding();
    } catch (thrown) {
      if ((await this.#askMembers(thrown)) === "ABORT") {
        await this.abort();
        throw thrown;
      }
    }
    try {
      await this.#transaction.decide("COMMIT");
    } catch {
      // Only a copy: until the outcome is recorded, whoever recovers this asks the members.
    }
  }

  async #askMembers(thrown: unknown): Promise<Decision> {
    try {
      return await this.#members.decided();
    } catch (failure) {
      this.#pending("decide", failure);
      throw this.#left(thrown, false, failure);
    }
  }

  #isDecided(): boolean {
    try {
      return this.#transaction.decision() !== null;
    } catch {
      // What cannot be read is left to recovery.
      return true;
    }
  }

  async #applyPersistently(at: number): Promise<CommitResult | null> {
    try {
      return await this.#members.apply(at);
    } catch {
      return this.#members.apply(at);
    }
  }

  /** Whether an undo has reached a resource so that going back is no way any more: only the rest is missing. */
  #canOnlyGoOn(at: number, thrown: unknown): boolean {
    if (this.#members.hasAppliedLate) return true;
    const isTold = thrown instanceof SandboxRollbackError;
    if (this.#members.isLate(at)) return !isTold || thrown.data.reason === "io";
    return this.#context.kind === "undo" && isTold && thrown.data.originalRestored;
  }

  async #takeBack(count: number, thrown: unknown): Promise<never> {
    try {
      await this.#transaction.markReversed(timestamp(this.#engine));
      await this.reverse(count);
    } catch (failure) {
      this.#pending("reverse", failure);
      throw this.#left(thrown, false, failure);
    }
    throw restated(thrown, this.#context.kind, { originalRestored: true, undoDataAt: null });
  }

  async #finishCommitted(results: Results): Promise<Results> {
    try {
      await this.#recordOutcome(results);
      await this.#endCommitted();
      return results;
    } catch (thrown) {
      // It is committed: whatever fails from here on is no failure of the commit.
      return this.#warned("finish", thrown, results);
    }
  }

  /** Records the outcome together with the sandboxes: nobody has to wait for one after the other. */
  async #recordOutcome(results: Results): Promise<void> {
    const records = results.flatMap((result, at) => {
      const record = result === null ? undefined : this.#recordBy?.(at, result);
      return result === null || record === undefined ? [] : [{ result, record }];
    });
    const { store } = this.#engine;
    const following = records.map(({ record }) => store.replacementBy(record));
    await this.#transaction.finish(this.#done("committed", results), following);
    for (const { result, record } of records) noteRecorded(result, record);
  }

  #warned(step: keyof typeof WARNINGS, thrown: unknown, results: Results): Results {
    this.#pending(step, thrown);
    const warning = `${WARNINGS[step]} (${describeThrown(thrown)}): run recover.`;
    return results.map(
      (result) => result && { ...result, warnings: [...result.warnings, warning] },
    );
  }

  async #endNoop(): Promise<Results> {
    const results: (CommitResult | null)[] = [];
    for (let at = 0; at < this.#members.count; at += 1)
      results.push(await this.#members.noopResult(at));
    await this.#endAborted();
    return results;
  }

  async #endCommitted(): Promise<void> {
    const [failure] = await this.#members.forget();
    if (failure === undefined) await this.#transaction.remove();
    else this.#pending("forget", failure);
  }

  async #endAborted(): Promise<void> {
    const [failure] = await this.#members.abandon();
    if (failure === undefined) await this.#transaction.remove();
    else this.#pending("abandon", failure);
  }

  #done(outcome: Done["outcome"], results: Results): Done {
    const { kind, gid } = this.#context;
    const members = this.#members.intents.map(({ ref, record, undoes }, at) => ({
      ref,
      record,
      undoes,
      result: results[at] ?? null,
    }));
    return { outcome, kind, gid, message: this.#message, members, at: timestamp(this.#engine) };
  }

  /** The error for a transaction that only recovery can settle. */
  #left(thrown: unknown, originalRestored: boolean, later?: unknown): SandboxError {
    const undoDataAt = undoDataOf(thrown) ?? undoDataOf(later) ?? this.#transaction.folder;
    return restated(thrown, this.#context.kind, {
      originalRestored,
      undoDataAt: originalRestored ? null : undoDataAt,
    });
  }

  #pending(step: string, thrown: unknown): void {
    this.#obstacle ??= thrown;
    const { ulid } = this.#context;
    const data = { transaction: ulid, step, reason: describeThrown(thrown) };
    this.#engine.emit("transaction.pending", data, "warning");
  }
}

function refuseInterrupted(kind: TransactionKind, signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  const details = { cause: signal.reason as unknown, hint: "Nothing was changed." };
  if (kind === "undo")
    throw rollbackError("io", "The undo was ended before it was decided", details);
  throw new SandboxCommitError("The commit was ended before it was decided", {
    data: {
      originalRestored: true,
      undoDataAt: null,
      failedPath: null,
      appliedCount: 0,
      reason: "aborted",
    },
    operation: "commit",
    ...details,
  });
}
