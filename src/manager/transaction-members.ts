import { withDefaults } from "../contract/capabilities.ts";
import type { CommitOptions, SandboxStrategy, TransactionPart } from "../contract/strategy.ts";
import type { Intent, IntentMember, TransactionKind } from "../journal/transaction-record.ts";
import { resourceRoot } from "../journal/resource-root.ts";
import { toBytePath } from "../model/byte-path.ts";
import type { CommitResult } from "../model/commit-result.ts";
import type { DiffView } from "../model/diff-view.ts";
import type { Json } from "../model/sandbox-ref.ts";
import { fingerprintPaths } from "../tree/fingerprint-paths.ts";

/** One sandbox of a transaction together with the strategy that does its part. */
export interface Member extends IntentMember {
  readonly strategy: SandboxStrategy;
  /** Prepare only what has this digest. */
  readonly expect?: string;
}

/** What the members of one transaction are called with. */
export interface MemberContext {
  readonly gid: string;
  readonly ulid: string;
  readonly kind: TransactionKind;
  /** Whether another process began the transaction. */
  readonly recovering?: boolean;
}

/** How far a transaction came, by number of the member; for reports. */
export interface MemberProgress {
  failedAt: number | null;
  /** In the order in which they took effect. */
  readonly applied: number[];
  /** Taken back and checked. */
  readonly undone: number[];
  readonly undoFailed: Map<number, unknown>;
  /** Had nothing to do. */
  readonly noop: Set<number>;
}

/** Hears of every member whose part of a phase is done. */
export type TellProgress = (phase: "prepare" | "apply", done: number) => void;

/** The progress of a transaction that has not begun. */
export function noProgress(): MemberProgress {
  return { failedAt: null, applied: [], undone: [], undoFailed: new Map(), noop: new Set() };
}

/** The calls of all members, in order; every one of them may be repeated, except the commits of early members. */
export class Members {
  readonly #context: MemberContext;
  readonly #progress: MemberProgress;
  readonly #tell: TellProgress | undefined;
  /** What early members were about to change: an undo brings exactly this back. */
  readonly #states = new Map<number, StateBefore>();
  readonly #results = new Map<number, CommitResult>();
  #members: readonly Member[];

  constructor(
    context: MemberContext,
    members: readonly Member[],
    progress: MemberProgress = noProgress(),
    tell?: TellProgress,
  ) {
    this.#context = context;
    this.#members = members;
    this.#progress = progress;
    this.#tell = tell;
  }

  /** The members as they stand in the intent. */
  get intents(): readonly IntentMember[] {
    return this.#members.map(({ ref, location, record, undoes, way }) => ({
      ref,
      location,
      record,
      undoes,
      ...(way !== undefined && { way }),
    }));
  }

  /** Prepares every member and keeps what each answers. `check` is asked before each. */
  async prepare(options: CommitOptions, check: () => void): Promise<void> {
    const prepared: Member[] = [];
    for (const [at, member] of this.#members.entries()) {
      if (member.way === "early") {
        prepared.push(member);
        continue;
      }
      const record = await this.#noting(at, async () => {
        check();
        const own = { ...options, ...(member.expect !== undefined && { expect: member.expect }) };
        return callOf(member.strategy, "prepare")(member.ref, this.#part(at), own);
      });
      if (isNoop(record)) this.#progress.noop.add(at);
      prepared.push({ ...member, record });
      this.#tell?.("prepare", prepared.length);
    }
    this.#members = prepared;
  }

  /** Whether every member said that there is nothing to be done. */
  get isNoop(): boolean {
    return this.#members.every(({ record, way }) => way === undefined && isNoop(record));
  }

  /** Verifies every member right before the decision. */
  async fence(options: CommitOptions, check: () => void): Promise<void> {
    for (const [at, { strategy, ref, way }] of this.#members.entries()) {
      if (way === "early") continue;
      await this.#noting(at, async () => {
        check();
        await callOf(strategy, "fence")(ref, this.#part(at), options);
      });
    }
  }

  /** Commits the members that cannot prepare, while everybody else can still be given up. */
  async commitEarly(options: CommitOptions, check: () => void): Promise<void> {
    for (const [at, { strategy, ref, location, way }] of this.#members.entries()) {
      if (way !== "early") continue;
      await this.#noting(at, async () => {
        check();
        this.#states.set(at, stateBefore(location, await strategy.diff(ref, options)));
        const result = await strategy.commit(ref, options);
        if (isNoop(result)) this.#progress.noop.add(at);
        this.#results.set(at, result);
        this.#progress.applied.push(at);
      });
    }
  }

  /**
   * Takes back what early members committed, the last first, the one that failed included. Goes on after a failure and
   * tells which failed. `unknown` says that another process began them and nobody knows which ran.
   */
  async undoEarly(unknown = false): Promise<readonly unknown[]> {
    const failures: unknown[] = [];
    for (let at = this.#members.length - 1; at >= 0; at -= 1) {
      const { way } = this.#at(at);
      if (way !== "early" || (!unknown && !this.#states.has(at))) continue;
      try {
        await this.#undoOne(at);
      } catch (thrown) {
        this.#progress.undoFailed.set(at, thrown);
        failures.push(thrown);
      }
    }
    return failures;
  }

  /** Applies one member. */
  async apply(at: number): Promise<CommitResult | null> {
    const { strategy, ref, way } = this.#at(at);
    if (way === "early") return this.#results.get(at) ?? null;
    const result = await callOf(strategy, "commitPrepared")(ref, this.#part(at));
    this.#progress.applied.push(at);
    this.#tell?.("apply", this.#progress.applied.length);
    return result;
  }

  /** What a member answers that has nothing to do. */
  async noopResult(at: number): Promise<CommitResult | null> {
    const { record } = this.#at(at);
    const { result } = record as { readonly result?: CommitResult };
    return result ?? this.apply(at);
  }

  /** Takes the first `count` members back, the last first. */
  async reverse(count = this.#members.length): Promise<void> {
    const failures: unknown[] = [];
    for (let at = this.#members.length - 1; at >= 0; at -= 1) {
      const { strategy, ref, way } = this.#at(at);
      // Early members took effect before the first of the others.
      if (way === undefined && at >= count) continue;
      try {
        if (way === "early") await this.#undoOne(at);
        else {
          await callOf(strategy, "reversePrepared")(ref, this.#part(at));
          this.#progress.undone.push(at);
        }
      } catch (thrown) {
        this.#progress.undoFailed.set(at, thrown);
        failures.push(thrown);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Gives what was prepared back to every sandbox; tells which failed. */
  abandon(): Promise<readonly unknown[]> {
    return this.#each("abandonPrepared");
  }

  /** Drops what no member needs any more; tells which failed. */
  forget(): Promise<readonly unknown[]> {
    return this.#each("forget");
  }

  get count(): number {
    return this.#members.length;
  }

  async #each(method: "abandonPrepared" | "forget"): Promise<readonly unknown[]> {
    const failures: unknown[] = [];
    for (const [at, { strategy, ref, way }] of this.#members.entries()) {
      if (way === "early") continue;
      try {
        await callOf(strategy, method)(ref, this.#part(at));
      } catch (error) {
        failures.push(error);
      }
    }
    return failures;
  }

  /** A missing exception is no proof: the changes must be there again, and the resource what it was. */
  async #undoOne(at: number): Promise<void> {
    const { strategy, ref, location } = this.#at(at);
    const { outcome } = withDefaults(strategy.capabilities);
    if (outcome && (await strategy.outcome?.(ref, this.#part(at))) === "aborted") return;
    await strategy.undoCommit?.(ref);
    const before = this.#states.get(at);
    if (before !== undefined && !isAsBefore(location, before, await strategy.diff(ref))) {
      throw new Error("the strategy did not bring the resource back");
    }
    this.#progress.undone.push(at);
  }

  async #noting<T>(at: number, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      this.#progress.failedAt ??= at;
      throw thrown;
    }
  }

  /** Remembers which member failed. */
  noteFailure(at: number): void {
    this.#progress.failedAt ??= at;
  }

  #at(at: number): Member {
    const member = this.#members[at];
    if (member === undefined) throw new RangeError(`there is no member ${at}`);
    return member;
  }

  #part(at: number): TransactionPart {
    const { record, undoes } = this.#at(at);
    return { ...this.#context, member: at, record, ...(undoes !== null && { undoes }) };
  }
}

/** The intent of members that are about to be prepared, or that are. */
export function intentOf(
  phase: Intent["phase"],
  context: MemberContext,
  members: readonly IntentMember[],
  details: Pick<Intent, "message" | "at">,
): Intent {
  const { kind, gid } = context;
  const { message, at } = details;
  return { phase, kind, gid, message, members, at };
}

function isNoop(record: unknown): boolean {
  return (
    typeof record === "object" &&
    record !== null &&
    (record as { readonly noop?: Json }).noop === true
  );
}

/** What is compared before a commit and after its undo. */
interface StateBefore {
  readonly digest: string;
  readonly changes: DiffView["changes"];
  /** Of the real paths that are going to change; null where the resource has none. */
  readonly fingerprint: string | null;
}

function stateBefore(location: string, { digest, changes }: DiffView): StateBefore {
  return { digest, changes, fingerprint: fingerprintOf(location, changes) };
}

function isAsBefore(location: string, before: StateBefore, now: DiffView): boolean {
  return (
    now.digest === before.digest && fingerprintOf(location, before.changes) === before.fingerprint
  );
}

function fingerprintOf(location: string, changes: DiffView["changes"]): string | null {
  const root = resourceRoot(location);
  return root === null ? null : fingerprintPaths(toBytePath(root.folder), changes);
}

type PhaseMethod =
  "prepare" | "fence" | "commitPrepared" | "abandonPrepared" | "reversePrepared" | "forget";

/** A method that the capability `prepare` promised, bound to its strategy. */
function callOf<M extends PhaseMethod>(
  strategy: SandboxStrategy,
  method: M,
): NonNullable<SandboxStrategy[M]> {
  const found = strategy[method];
  if (found === undefined) throw new TypeError(`the strategy has no method ${method}`);
  return found.bind(strategy) as NonNullable<SandboxStrategy[M]>;
}
