import type { DeclaredCapabilities } from "../../contract/capabilities.ts";
import { capabilitiesOf } from "../../contract/capabilities-of.ts";
import { SandboxStateError } from "../../errors/index.ts";
import type { SandboxRecord } from "../../journal/sandbox-record.ts";
import { type Engine, type Guarded, guardedOf } from "../engine.ts";
import { finishPlanRestore } from "../repair-workspace.ts";
import { type PromisedMember, classOf } from "./plan-promise.ts";

/** One sandbox of a plan with the strategy that works on it. */
export interface PlanMember extends PromisedMember {
  readonly record: SandboxRecord;
  readonly guarded: Guarded;
  readonly capabilities: DeclaredCapabilities;
  readonly isIrrevocable: boolean;
}

/** The sandboxes of a plan in the order of their creation, each with its strategy. The caller holds the plan's lock. */
export async function planMembers(engine: Engine, planId: string): Promise<PlanMember[]> {
  const members: PlanMember[] = [];
  for (const found of engine.store.list(planId)) {
    const record = await finishPlanRestore(engine, found);
    const guarded = await guardedOf(engine, record.ref.strategyName);
    const capabilities = capabilitiesOf(guarded.raw, record.ref);
    const { sandboxId, resourceId } = record.ref;
    const isIrrevocable = classOf(capabilities) === "irrevocable";
    members.push({ record, guarded, capabilities, sandboxId, resourceId, isIrrevocable });
  }
  return members;
}

/** The error for a resource that the plan does not have. */
export function unknownResource(
  planId: string,
  resourceId: string,
  attempted: string,
): SandboxStateError {
  return new SandboxStateError(`The plan has no resource ${JSON.stringify(resourceId)}`, {
    data: { status: "PENDING", attempted, allowedFrom: [], reason: "unknownRef" },
    operation: attempted,
    planId,
    resourceId,
    hint: "`describe` lists the resources of a plan.",
  });
}

/** The error for a plan that this state directory does not know. */
export function unknownPlan(planId: string, attempted: string): SandboxStateError {
  return new SandboxStateError("No plan with this id is known here", {
    data: { status: "PENDING", attempted, allowedFrom: [], reason: "unknownPlan" },
    operation: attempted,
    planId,
    hint: "Look at the list of sandboxes, or make one for this plan first.",
  });
}
