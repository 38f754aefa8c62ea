import type { SandboxDescription } from "../index.ts";
import { type PlanState, stateOf } from "./plan-state.ts";

/** The sandboxes by plan, in the order of the plans' first sandboxes. */
export function plansOf(sandboxes: readonly SandboxDescription[]): ListedPlan[] {
  const byPlan = grouped(sandboxes);
  return [...byPlan].map(([planId, members]) => ({
    planId,
    state: stateOf(members),
    createdAt: members.map(({ ref }) => ref.createdAt).toSorted()[0]!,
    updatedAt: members
      .map(({ updatedAt }) => updatedAt)
      .toSorted()
      .at(-1)!,
    resources: members.map(
      ({ ref: { resourceId, strategyName }, resource: { type, location } }) => ({
        resourceId,
        type,
        location,
        strategyName,
      }),
    ),
  }));
}

/** One plan, as `coffer list --json` tells it. */
export interface ListedPlan {
  readonly planId: string;
  readonly state: PlanState;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly resources: readonly {
    readonly resourceId: string;
    readonly type: string;
    readonly location: string;
    readonly strategyName: string;
  }[];
}

function grouped(sandboxes: readonly SandboxDescription[]): Map<string, SandboxDescription[]> {
  const plans = new Map<string, SandboxDescription[]>();
  for (const sandbox of sandboxes) {
    const { planId } = sandbox.ref;
    plans.set(planId, [...(plans.get(planId) ?? []), sandbox]);
  }
  return plans;
}
