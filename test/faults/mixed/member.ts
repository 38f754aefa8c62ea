import type { Plan, PlanResource, Sandbox } from "../../../src/index.ts";
import type { Ground } from "../ground.ts";
import type { TreeState } from "../tree.ts";

/** One kind of resource in a plan that is disturbed. Whatever it is asked, programs other than ours answer. */
export interface WorldMember {
  /** Unique in the plan. */
  readonly id: string;
  /** Makes the resource on a fresh ground. */
  readonly make: (ground: Ground) => void;
  /** What the plan is told of it. */
  readonly resource: (ground: Ground) => Omit<PlanResource, "id">;
  /** Edits a sandbox of it, for the first or a further time. */
  readonly edit: (sandbox: Sandbox, to: Exclude<TreeState, "old">, plan: Plan) => Promise<unknown>;
  /** In which state the resource is; throws when it is a mixture. */
  readonly stateOf: (ground: Ground) => TreeState;
  /** In which state a sandbox of it is; throws when it is a mixture. */
  readonly stateOfSandbox: (ground: Ground, sandbox: Sandbox, plan: Plan) => Promise<TreeState>;
  /** Lines of the configuration for a connection; without any unless given. */
  readonly connection?: (ground: Ground) => string;
  /** Further lines of the configuration, such as a plug-in. */
  readonly configuration?: string;
  /** The folder that it has outside of the ground's, such as one on another device. */
  readonly folder?: (ground: Ground) => string;
  /** All of it that lies outside of the ground's folder. */
  readonly look?: (ground: Ground) => string;
  /** What nobody may leave when everything is settled. */
  readonly unsettled?: (ground: Ground) => readonly string[];
  /** What nobody may leave when there is no sandbox any more. */
  readonly leftovers?: (ground: Ground) => readonly string[];
}
