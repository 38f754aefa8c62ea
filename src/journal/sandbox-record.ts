import type { ErrorJson } from "../errors/index.ts";
import type { CommitResult } from "../model/commit-result.ts";
import type { Resource } from "../model/resource.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import { SANDBOX_STATUSES, type SandboxStatus } from "../model/status.ts";
import { hasFields, type RecordFormat } from "./record-file.ts";

/** What is known about one checkpoint. The bytes are kept by the strategy under `storage`. */
export interface CheckpointRecord {
  readonly id: string;
  /** The name that the strategy knows it by: unique, so that a half-made one is never in the way. */
  readonly storage: string;
  /** UTC, ISO 8601. */
  readonly createdAt: string;
  /** The checkpoint that the sandbox was made from or brought back to last; null for the first. */
  readonly parentId: string | null;
  readonly note: string | null;
  /** Made by a restore, so that the restore can be undone. */
  readonly automatic: boolean;
}

/** What was begun and is not finished; recovery goes by it. */
export type InFlight =
  | {
      readonly operation: "commit" | "undoCommit" | "rollback";
      /** The status before the call. */
      readonly from: SandboxStatus;
      /** The transaction that carries the decision, for strategies that prepare; null when none is needed. */
      readonly transaction: string | null;
      /** The resource is as before the commit: only the workspace is left to reset. */
      readonly undone: boolean;
      /** Part of one transaction with others of the plan: that alone tells how it ended. */
      readonly together?: true;
    }
  | {
      readonly operation: "restoreCheckpoint";
      readonly from: SandboxStatus;
      /** Storage name of the automatic checkpoint that holds the state before the call. */
      readonly storage: string;
      /** Part of a restore of the whole plan, which is done as soon as the plan's record names it. */
      readonly ofPlan?: PlanRestore;
    };

/** How a sandbox takes part in a restore of its whole plan. */
export interface PlanRestore {
  /** Id of the restore. */
  readonly restore: string;
  /** The sandbox's own checkpoint that the restored state goes back to. */
  readonly currentCheckpoint: string | null;
}

/** A copy of a sandbox that a command works on, or surroundings that it runs in. */
export interface LentMark {
  /** What was made in the workspace of another sandbox so that the copy could be shown there; goes with the copy. */
  readonly placeholder: { readonly file: string; readonly folder: string | null } | null;
}

/** The durable record of one sandbox. */
export interface SandboxRecord {
  readonly ref: SandboxRef;
  readonly resource: Resource;
  readonly status: SandboxStatus;
  /** Creation number within the plan. */
  readonly sequence: number;
  readonly lastError: ErrorJson | null;
  /** The workspace must be rebuilt before anybody sees it again. */
  readonly workspaceStale: boolean;
  /** A command may have a copy, or surroundings, whose edits have to be taken before anybody sees the sandbox again. */
  readonly lent?: LentMark | null;
  readonly checkpoints: readonly CheckpointRecord[];
  /** Id of the checkpoint that the present state goes back to. */
  readonly currentCheckpoint: string | null;
  readonly inFlight: InFlight | null;
  /** Id of the transaction of the last commit; null when none was needed. */
  readonly lastTransaction: string | null;
  readonly lastResult: CommitResult | null;
  /** UTC, ISO 8601. */
  readonly updatedAt: string;
}

/** How a sandbox's record is written. */
export const SANDBOX_RECORD: RecordFormat<SandboxRecord> = {
  name: "sandbox",
  version: 1,
  isData: (value): value is SandboxRecord =>
    hasFields(value, { ref: "object", resource: "object", status: "string", sequence: "number" }) &&
    (SANDBOX_STATUSES as readonly unknown[]).includes(value["status"]) &&
    hasFields(value["ref"], { sandboxId: "string", planId: "string", strategyName: "string" }) &&
    hasFields(value["resource"], { resourceId: "string", location: "string" }) &&
    Array.isArray(value["checkpoints"]),
};
