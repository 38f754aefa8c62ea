import { SandboxError } from "../light.ts";
import type { Cofferdam, PlanCheckpointDescription, SandboxDescription } from "../index.ts";
import type { KnownPlan } from "./open-plan.ts";
import { workspaceOf } from "./open-plan.ts";
import { type PlanState, stateOf } from "./plan-state.ts";

/** One sandbox of a plan, as `coffer status --json` tells it. */
export interface ToldSandbox {
  readonly resourceId: string;
  readonly strategyName: string;
  readonly status: SandboxDescription["status"];
  /** How the strategy works here, such as `kernel`; null where there is only one way. */
  readonly mode: string | null;
  /** What of the resource belongs to others and had a say in the choice of the mode, in words; null where nothing has. */
  readonly foreign: string | null;
  /** The directory or file to work in; null where there is none now. */
  readonly path: string | null;
}

/** One plan, as `coffer status --json` tells it. */
export interface ToldPlan {
  readonly planId: string;
  readonly state: PlanState;
  readonly sandboxes: readonly ToldSandbox[];
  readonly checkpoints: readonly PlanCheckpointDescription[];
}

/** Everything that is to be said about a plan. Makes workspaces ready that are in use, and changes nothing else. */
export async function describePlan(
  cofferdam: Cofferdam,
  { plan, sandboxes }: KnownPlan,
): Promise<ToldPlan> {
  const told: ToldSandbox[] = [];
  for (const { ref, status } of sandboxes) {
    const { resourceId, strategyName } = ref;
    const isInUse = status === "ACTIVE";
    const path = isInUse ? await pathOrNone(cofferdam, ref) : null;
    const foreign = foreignOf(ref);
    told.push({ resourceId, strategyName, status, mode: modeOf(ref), foreign, path });
  }
  const checkpoints = await plan.checkpoints();
  return { planId: plan.id, state: stateOf(sandboxes), sandboxes: told, checkpoints };
}

/** How the strategy of a sandbox works here; null where there is only one way. */
export function modeOf({ metadata }: SandboxDescription["ref"]): string | null {
  const { mode, engine } = metadata;
  if (typeof mode === "string") return mode;
  return typeof engine === "string" ? engine : null;
}

function foreignOf({ metadata: { foreign } }: SandboxDescription["ref"]): string | null {
  return typeof foreign === "string" ? foreign : null;
}

/** A workspace that cannot be had now is no reason to tell nothing about the plan. */
async function pathOrNone(
  cofferdam: Cofferdam,
  ref: SandboxDescription["ref"],
): Promise<string | null> {
  try {
    return await workspaceOf(cofferdam.sandbox(ref));
  } catch (error) {
    if (error instanceof SandboxError) return null;
    throw error;
  }
}
