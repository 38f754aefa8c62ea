import { describeThrown } from "../errors/index.ts";
import type { Engine } from "./engine.ts";

/**
 * Says that this instance works on a plan, which then is not taken for abandoned. Where that cannot be noted, on a full
 * disk for instance, the work goes on all the same: it only is less protected.
 */
export async function claimPlan(engine: Engine, planId: string): Promise<void> {
  try {
    await engine.owners.claim(planId);
  } catch (thrown) {
    const data = { planId, reason: describeThrown(thrown) };
    engine.emit("plan.unclaimed", data, "warning");
  }
}
