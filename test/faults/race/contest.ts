import type { PlanResource } from "../../../src/index.ts";

/** One call of a contender. */
export type Contest = {
  readonly planId: string;
  /** How long it waits before. */
  readonly afterMs: number;
} & (
  | { readonly call: "commit" | "rollback" | "cleanup" }
  | { readonly call: "create"; readonly resource: PlanResource }
  | {
      readonly call: "write";
      readonly id: string;
      readonly path: string;
      readonly content: string;
    }
);

/** What it said then. */
export interface Said {
  readonly outcome: "done" | "failed";
  /** The resources that the call was about. */
  readonly order?: readonly string[];
  readonly code?: string;
}
