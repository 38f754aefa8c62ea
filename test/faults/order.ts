import type { ErrorJson, PlanOutcome, Resource, SandboxRef } from "../../src/index.ts";

/** What the disturbed program is to do. */
export type Order = {
  readonly state: string;
  /** Configuration with connections; none unless given. */
  readonly config?: string;
  /** A folder to be made when everything is open and the operation begins. */
  readonly begun?: string;
  /** What is done about interrupted work when it is opened; everything unless given. */
  readonly recover?: "report";
} & Operation;

/** A call about all sandboxes of a plan. */
export type PlanOperation = "plan.commit" | "plan.undo" | "plan.rollback" | "plan.cleanup";

/** One call of the public interface. */
export type Operation =
  | { readonly operation: "open" }
  | {
      readonly operation: "create";
      readonly planId: string;
      readonly resource: Resource;
      readonly strategy: string;
    }
  | {
      readonly operation: "write";
      readonly ref: SandboxRef;
      readonly path: string;
      readonly content: string;
    }
  | {
      readonly operation: "checkpoint" | "restoreCheckpoint";
      readonly ref: SandboxRef;
      readonly checkpointId: string;
    }
  | {
      readonly operation: "plan.checkpoint" | "plan.restoreCheckpoint";
      readonly planId: string;
      readonly checkpointId: string;
    }
  | { readonly operation: "plan.fork"; readonly planId: string; readonly name: string }
  | {
      readonly operation: PlanOperation;
      readonly planId: string;
    }
  | {
      readonly operation: "getPath" | "commit" | "rollback" | "undoCommit" | "drop";
      readonly ref: SandboxRef;
    }
  | { readonly operation: "cleanup"; readonly ref: SandboxRef; readonly force?: boolean };

/** What the program said about its call. */
export interface Told {
  readonly outcome: "done" | "failed";
  readonly ref?: SandboxRef | undefined;
  /** Outcome of a plan's commit that did not throw. */
  readonly committed?: PlanOutcome;
  readonly error?: ErrorJson;
}
