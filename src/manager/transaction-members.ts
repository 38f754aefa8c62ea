import type { CommitOptions, SandboxStrategy, TransactionPart } from "../contract/strategy.ts";
import { SandboxError } from "../errors/index.ts";
import type {
  Decision,
  Intent,
  IntentMember,
  TransactionKind,
} from "../journal/transaction-record.ts";
import type { CommitResult } from "../model/commit-result.ts";
import type { Json, SandboxRef } from "../model/sandbox-ref.ts";
import { type StateBefore, commitEarly, undoEarly } from "./early-member.ts";

/** One sandbox of a transaction together with the strategy that does its part. */
export interface Member extends IntentMember {
  readonly strategy: SandboxStrategy;
  /** Prepare only what has this digest. */
  readonly expect?: string;
  /** Whether its sandbox was cleaned up by force while the transaction waited for others: nothing of it is left. */
  readonly isGivenUp?: boolean;
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
  /** What that one threw. */
  failure: unknown;
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
  return {
    failedAt: null,
    failure: null,
    applied: [],
    undone: [],
    undoFailed: new Map(),
    noop: new Set(),
  };
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
      if (member.way !== undefined) {
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
      if (way === "early" || way === "deciding") continue;
      await this.#noting(at, async () => {
        check();
        if (way === "late") await strategy.checkUndo?.(ref, options);
        else await callOf(strategy, "fence")(ref, this.#part(at), options);
      });
    }
  }

  /** Commits the members that cannot prepare, while everybody else can still be given up. */
  async commitEarly(options: CommitOptions, check: () => void): Promise<void> {
    for (const [at, member] of this.#members.entries()) {
      if (member.way !== "early") continue;
      await this.#noting(at, async () => {
        check();
        const result = await commitEarly(member, options, (before) => this.#states.set(at, before));
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
      const { way, isGivenUp = false } = this.#at(at);
      if (isGivenUp || way !== "early" || (!unknown && !this.#states.has(at))) continue;
      try {
        await this.#undoOne(at);
      } catch (thrown) {
        this.#progress.undoFailed.set(at, thrown);
        failures.push(thrown);
      }
    }
    return failures;
  }

  /** Whether what some member does is the decision. */
  get hasDeciding(): boolean {
    return this.#deciding.length > 0;
  }

  /** Lets the deciding members decide, all in one step. A failure leaves open what counts: ask `decided`. */
  async commitDeciding(): Promise<void> {
    const { at, strategy, refs } = this.#decider();
    let results: readonly CommitResult[];
    try {
      results = await callOf(strategy, "commitDeciding")(refs, this.#part(at));
    } catch (thrown) {
      this.noteFailure(this.#namedBy(thrown) ?? at, thrown);
      throw thrown;
    }
    for (const [index, { at: own }] of this.#deciding.entries()) {
      const result = results[index];
      if (result !== undefined) this.#results.set(own, result);
      this.#progress.applied.push(own);
    }
  }

  /** What the deciding members decided; from now on they abort when they had not. */
  decided(): Promise<Decision> {
    const { at, strategy, refs } = this.#decider();
    return callOf(strategy, "decided")(refs, this.#part(at), "ABORT");
  }

  /** The numbers of the members in the order in which they are applied: first those that cannot go back. */
  get applyOrder(): readonly number[] {
    const isLate = (at: number): boolean => this.#at(at).way === "late";
    const all = [...this.#members.keys()].filter((at) => this.#at(at).isGivenUp !== true);
    return [...all.filter(isLate), ...all.filter((at) => !isLate(at))];
  }

  /** Applies one member. */
  async apply(at: number): Promise<CommitResult | null> {
    const { strategy, ref, way } = this.#at(at);
    if (way === "early" || way === "deciding") return this.#results.get(at) ?? null;
    const result =
      way === "late"
        ? await undoLate(strategy, ref)
        : await callOf(strategy, "commitPrepared")(ref, this.#part(at));
    this.#progress.applied.push(at);
    this.#tell?.("apply", this.#progress.applied.length);
    return result;
  }

  /** Whether a late member was taken back, which nothing can reverse. */
  get hasAppliedLate(): boolean {
    return this.#progress.applied.some((at) => this.#at(at).way === "late");
  }

  /** Whether this member is a late one. */
  isLate(at: number): boolean {
    return this.#at(at).way === "late";
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
      const { strategy, ref, way, isGivenUp = false } = this.#at(at);
      if (isGivenUp) continue;
      // Late ones have done nothing where anything is reversed, and deciding ones never are.
      if (way === "late" || way === "deciding") continue;
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
    for (const [at, { strategy, ref, way, isGivenUp = false }] of this.#members.entries()) {
      if (isGivenUp || way === "early" || way === "late") continue;
      try {
        // What a deciding member keeps of a decision is not needed any more, whatever it was.
        if (way === "deciding") await strategy.forget?.(ref, this.#part(at));
        else await callOf(strategy, method)(ref, this.#part(at));
      } catch (thrown) {
        failures.push(thrown instanceof SandboxError ? thrown.inContext(ref) : thrown);
      }
    }
    return failures;
  }

  async #undoOne(at: number): Promise<void> {
    await undoEarly(this.#at(at), this.#part(at), this.#states.get(at) ?? null);
    this.#progress.undone.push(at);
  }

  async #noting<T>(at: number, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      this.noteFailure(at, thrown);
      throw thrown;
    }
  }

  /** Remembers which member failed first, and why. */
  noteFailure(at: number, thrown: unknown): void {
    if (this.#progress.failedAt !== null) return;
    this.#progress.failedAt = at;
    this.#progress.failure = thrown;
  }

  /** The deciding member that an error of all of them names as the one it is about. */
  #namedBy(thrown: unknown): number | null {
    if (!(thrown instanceof SandboxError)) return null;
    const named = this.#deciding.find(({ ref }) => ref.sandboxId === thrown.sandboxId);
    return named?.at ?? null;
  }

  get #deciding(): readonly (Member & { readonly at: number })[] {
    return this.#members
      .map((member, at) => ({ ...member, at }))
      .filter(({ way, isGivenUp = false }) => way === "deciding" && !isGivenUp);
  }

  /** The strategy that decides for all of its group, called as the first of them. */
  #decider(): { at: number; strategy: SandboxStrategy; refs: readonly SandboxRef[] } {
    const [first] = this.#deciding;
    if (first === undefined) throw new RangeError("no member decides");
    return { at: first.at, strategy: first.strategy, refs: this.#deciding.map(({ ref }) => ref) };
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

async function undoLate(strategy: SandboxStrategy, ref: SandboxRef): Promise<null> {
  await callOf(strategy, "undoCommit")(ref);
  return null;
}

type PhaseMethod =
  | "prepare"
  | "fence"
  | "commitPrepared"
  | "abandonPrepared"
  | "reversePrepared"
  | "forget"
  | "commitDeciding"
  | "decided"
  | "undoCommit";

/** A method that a capability promised, bound to its strategy. */
function callOf<M extends PhaseMethod>(
  strategy: SandboxStrategy,
  method: M,
): NonNullable<SandboxStrategy[M]> {
  const found = strategy[method];
  if (found === undefined) throw new TypeError(`the strategy has no method ${method}`);
  return found.bind(strategy) as NonNullable<SandboxStrategy[M]>;
}
