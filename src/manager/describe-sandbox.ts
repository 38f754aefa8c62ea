import type { ErrorJson } from "../errors/index.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { CommitResult } from "../model/commit-result.ts";
import type { Resource } from "../model/resource.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import type { SandboxStatus } from "../model/status.ts";
import { isInterrupted } from "./settle-sandbox.ts";

/** One checkpoint of a sandbox. */
export interface CheckpointDescription {
  readonly id: string;
  /** UTC, ISO 8601. */
  readonly createdAt: string;
  /** The checkpoint that this one was made after. */
  readonly parentId: string | null;
  readonly note: string | null;
  /** Made by a restore, so that the restore can be undone. */
  readonly automatic: boolean;
}

/** Everything that is known about a sandbox without looking into it. */
export interface SandboxDescription {
  readonly ref: SandboxRef;
  readonly status: SandboxStatus;
  readonly resource: Resource;
  /** Creation number within the plan. */
  readonly sequence: number;
  /** Why the last commit, rollback, restore or clean-up failed; null after one that succeeded. */
  readonly lastError: ErrorJson | null;
  /** The workspace is rebuilt before it is used again. */
  readonly workspaceStale: boolean;
  /** In the order of their creation. */
  readonly checkpoints: readonly CheckpointDescription[];
  /** The checkpoint that the present state goes back to. */
  readonly currentCheckpoint: string | null;
  /** What the commit did that the sandbox is in; null unless it is COMMITTED. */
  readonly lastResult: CommitResult | null;
  /** Whether `rollback` can take that commit back, and with what. */
  readonly undoable: CommitResult["undoable"];
  /** The transaction of that commit, or of work that was interrupted. */
  readonly transaction: string | null;
  /** Work was interrupted: `recover` finishes it. */
  readonly interrupted: boolean;
  /** UTC, ISO 8601. */
  readonly updatedAt: string;
}

/** What a record tells to callers. */
export function describeRecord(record: SandboxRecord): SandboxDescription {
  const { ref, status, resource, sequence, lastError, workspaceStale, updatedAt } = record;
  const { currentCheckpoint, lastResult, inFlight } = record;
  const running = inFlight !== null && "transaction" in inFlight ? inFlight.transaction : null;
  return {
    ref,
    status,
    resource,
    sequence,
    lastError,
    workspaceStale,
    checkpoints: record.checkpoints.map(({ storage: _storage, ...told }) => told),
    currentCheckpoint,
    lastResult,
    undoable: lastResult?.undoable ?? { possible: false, by: "nothing was committed" },
    transaction: running ?? record.lastTransaction,
    interrupted: isInterrupted(record),
    updatedAt,
  };
}
