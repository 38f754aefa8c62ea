import type { CommitOptions, SandboxStrategy, TransactionPart } from "../contract/strategy.ts";
import type { Intent, IntentMember, TransactionKind } from "../journal/transaction-record.ts";
import type { CommitResult } from "../model/commit-result.ts";
import type { Json } from "../model/sandbox-ref.ts";

/** One sandbox of a transaction together with the strategy that does its part. */
export interface Member extends IntentMember {
  readonly strategy: SandboxStrategy;
}

/** What the members of one transaction are called with. */
export interface MemberContext {
  readonly gid: string;
  readonly ulid: string;
  readonly kind: TransactionKind;
  /** Whether another process began the transaction. */
  readonly recovering?: boolean;
}

/** The two-phase calls of all members, in order; every one of them may be repeated. */
export class Members {
  readonly #context: MemberContext;
  #members: readonly Member[];

  constructor(context: MemberContext, members: readonly Member[]) {
    this.#context = context;
    this.#members = members;
  }

  /** The members as they stand in the intent. */
  get intents(): readonly IntentMember[] {
    return this.#members.map(({ ref, location, record, undoes }) => ({
      ref,
      location,
      record,
      undoes,
    }));
  }

  /** Prepares every member and keeps what each answers. `check` is asked before each. */
  async prepare(options: CommitOptions, check: () => void): Promise<void> {
    const prepared: Member[] = [];
    for (const [at, member] of this.#members.entries()) {
      check();
      const record = await callOf(member.strategy, "prepare")(member.ref, this.#part(at), options);
      prepared.push({ ...member, record });
    }
    this.#members = prepared;
  }

  /** Whether every member said that there is nothing to be done. */
  get isNoop(): boolean {
    return this.#members.every(({ record }) => isNoop(record));
  }

  /** Verifies every member right before the decision. */
  async fence(options: CommitOptions, check: () => void): Promise<void> {
    for (const [at, { strategy, ref }] of this.#members.entries()) {
      check();
      await callOf(strategy, "fence")(ref, this.#part(at), options);
    }
  }

  /** Applies one member. */
  apply(at: number): Promise<CommitResult> {
    const { strategy, ref } = this.#at(at);
    return callOf(strategy, "commitPrepared")(ref, this.#part(at));
  }

  /** What a member answers that has nothing to do. */
  async noopResult(at: number): Promise<CommitResult> {
    const { record } = this.#at(at);
    const { result } = record as { readonly result?: CommitResult };
    return result ?? this.apply(at);
  }

  /** Takes the first `count` members back, the last first. */
  async reverse(count = this.#members.length): Promise<void> {
    for (let at = count - 1; at >= 0; at -= 1) {
      const { strategy, ref } = this.#at(at);
      await callOf(strategy, "reversePrepared")(ref, this.#part(at));
    }
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
    for (const [at, { strategy, ref }] of this.#members.entries()) {
      try {
        await callOf(strategy, method)(ref, this.#part(at));
      } catch (error) {
        failures.push(error);
      }
    }
    return failures;
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

function isNoop(record: Json): boolean {
  return (
    typeof record === "object" &&
    record !== null &&
    (record as { readonly noop?: Json }).noop === true
  );
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
