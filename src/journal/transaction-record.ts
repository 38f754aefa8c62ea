import type { CommitResult } from "../model/commit-result.ts";
import type { Json, SandboxRef } from "../model/sandbox-ref.ts";
import { hasFields, type RecordFormat } from "./record-file.ts";

/** What a transaction does to its members. */
export type TransactionKind = "commit" | "undo";

/** What a transaction was decided to be. */
export type Decision = "COMMIT" | "ABORT";

/** The commit that an undo takes back. */
export interface UndoneCommit {
  readonly ulid: string;
  readonly record: Json;
}

/**
 * How a member takes part that cannot prepare.
 *
 * - `early`: its commit is done before the decision, and taken back when that is to abort.
 * - `deciding`: what it does is the decision.
 * - `late`: its undo, which can be repeated, is done first after the decision.
 */
export type MemberWay = "early" | "deciding" | "late";

/** One sandbox of a transaction. */
export interface IntentMember {
  readonly ref: SandboxRef;
  /** Path of the real resource where it has one. */
  readonly location: string;
  /** What the strategy prepared; null until then. */
  readonly record: Json;
  readonly undoes: UndoneCommit | null;
  /** How a member takes part that cannot prepare; absent for all others. */
  readonly way?: MemberWay;
}

/** What a transaction is about to do: version 1 of the content before any prepare, version 2 after the last. */
export interface Intent {
  readonly phase: "preparing" | "prepared";
  readonly kind: TransactionKind;
  readonly gid: string;
  readonly message: string | null;
  readonly members: readonly IntentMember[];
  /** UTC, ISO 8601. */
  readonly at: string;
}

/** How a member ended. */
export interface DoneMember {
  readonly ref: SandboxRef;
  readonly record: Json;
  readonly undoes: UndoneCommit | null;
  /** Null when the transaction was taken back. */
  readonly result: CommitResult | null;
}

/** The outcome of a transaction: written before anything is cleared away, kept for undo and history. */
export interface Done {
  readonly outcome: "committed" | "aborted";
  readonly kind: TransactionKind;
  readonly gid: string;
  readonly message: string | null;
  readonly members: readonly DoneMember[];
  /** UTC, ISO 8601. */
  readonly at: string;
}

/** Who runs a transaction. For messages, never for correctness. */
export interface Owner {
  readonly pid: number;
  readonly host: string;
  /** Clock ticks between the machine's start and the process's; null where unknown. */
  readonly startTime: string | null;
  readonly bootId: string | null;
  /** UTC, ISO 8601. */
  readonly since: string;
}

/** How the intent is written. */
export const INTENT: RecordFormat<Intent> = {
  name: "intent",
  version: 1,
  isData: (value): value is Intent =>
    hasFields(value, { phase: "string", kind: "string", gid: "string" }) &&
    hasMembers(value["members"]),
};

/** How the outcome is written. */
export const DONE: RecordFormat<Done> = {
  name: "done",
  version: 1,
  isData: (value): value is Done =>
    hasFields(value, { outcome: "string", kind: "string", gid: "string" }) &&
    hasMembers(value["members"]),
};

/** How the owner is written. */
export const OWNER: RecordFormat<Owner> = {
  name: "owner",
  version: 1,
  isData: (value): value is Owner => hasFields(value, { pid: "number", since: "string" }),
};

/** How the decision is written. */
export const DECISION: RecordFormat<{ readonly decision: Decision }> = {
  name: "decision",
  version: 1,
  isData: (value): value is { readonly decision: Decision } =>
    hasFields(value, { decision: "string" }) &&
    (value["decision"] === "COMMIT" || value["decision"] === "ABORT"),
};

/** How the mark is written that a decided transaction is being taken back. */
export const REVERSED: RecordFormat<{ readonly at: string }> = {
  name: "reversed",
  version: 1,
  isData: (value): value is { readonly at: string } => hasFields(value, { at: "string" }),
};

function hasMembers(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (member) =>
        hasFields(member, { ref: "object" }) &&
        hasFields(member["ref"], { planId: "string", sandboxId: "string", strategyName: "string" }),
    )
  );
}
