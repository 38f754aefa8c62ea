import { hasFields, type RecordFormat } from "./record-file.ts";
import type { CheckpointRecord } from "./sandbox-record.ts";

/** What one sandbox keeps for a checkpoint of its plan. */
export interface KeptMember {
  readonly sandboxId: string;
  readonly resourceId: string;
  /** The name that the strategy knows the state by. */
  readonly storage: string;
  /** The checkpoint of the sandbox alone that this state goes back to. */
  readonly currentCheckpoint: string | null;
}

/** One checkpoint of a whole plan: made of one kept state of each sandbox, known here and nowhere else. */
export interface PlanCheckpointRecord extends Omit<CheckpointRecord, "storage"> {
  readonly members: readonly KeptMember[];
}

/** The checkpoints of a plan, and the decision about the last restore. One file, so that both change in one step. */
export interface PlanCheckpoints {
  readonly checkpoints: readonly PlanCheckpointRecord[];
  /** Id of the checkpoint that the present state goes back to. */
  readonly currentCheckpoint: string | null;
  /** The last restore that is done. A sandbox that is marked with any other one goes back. */
  readonly lastRestore: string | null;
}

/** What a plan has before its first checkpoint. */
export const NO_CHECKPOINTS: PlanCheckpoints = {
  checkpoints: [],
  currentCheckpoint: null,
  lastRestore: null,
};

/** How the checkpoints of a plan are written. */
export const PLAN_CHECKPOINTS: RecordFormat<PlanCheckpoints> = {
  name: "plan-checkpoints",
  version: 1,
  isData: (value): value is PlanCheckpoints =>
    typeof value === "object" &&
    value !== null &&
    "checkpoints" in value &&
    Array.isArray(value.checkpoints) &&
    value.checkpoints.every(
      (one) => hasFields(one, { id: "string" }) && Array.isArray(one["members"]),
    ),
};
