import { openCofferdam } from "../light.ts";
import type { Call } from "./call.ts";
import { stateOf } from "./plan-state.ts";
import { printable } from "./render/printable.ts";

/** Says after an interruption how the plan of the call stands now, as the records on disk tell it. */
export async function tellStateOfPlan(call: Call): Promise<void> {
  const planId = call.text("plan");
  if (planId === undefined) return;
  await using cofferdam = await openCofferdam({ ...call.places, recover: "report" });
  const sandboxes = await cofferdam.list(planId);
  const state = sandboxes.length === 0 ? "not there" : stateOf(sandboxes);
  process.stderr.write(`The plan ${printable(planId)} is ${state}.\n`);
}
