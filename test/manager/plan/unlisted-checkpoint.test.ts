import { join } from "node:path";
import { expect, it } from "vitest";
import {
  type FaultPoint,
  type TracedProgram,
  faultPoints,
  runWithFault,
} from "../../support/faults.ts";
import { ACT } from "../act.ts";
import type { Answers, Orders } from "../programs/act.ts";
import { contents, idsOf, keptIn } from "./plan-contents.ts";
import { type PlanSite, openPlanSite } from "./plan-site.ts";

const IDS = ["one", "two"];

/** A plan that was edited after its checkpoint. */
async function edited(): Promise<PlanSite> {
  const site = await openPlanSite({ one: "probe", two: "probe" });
  await site.plan.checkpoint("kept");
  for (const id of IDS) await site.sandbox(id).write("a", "later\n");
  return site;
}

function traced({ site }: PlanSite, call: readonly [string, string]): TracedProgram {
  const { stateDirectory } = site;
  const orders: Orders = { options: { stateDirectory }, planId: "plan", calls: [call] };
  const touching = [join(stateDirectory, "plans")];
  return { program: ACT, args: [JSON.stringify(orders)], touching };
}

/** The syncs that make sure that a list of checkpoints stays which was just put in its place. */
function syncsOfLists(points: readonly FaultPoint[]): FaultPoint[] {
  const isList = ({ call, paths }: FaultPoint): boolean =>
    call.startsWith("rename") && paths.some((path) => path.endsWith("/checkpoints.json"));
  return points.filter((point, at) => {
    const before = points[at - 1];
    return point.call === "fsync" && before !== undefined && isList(before);
  });
}

/** Each with the number of its list whose sync fails, and what is listed and kept then. */
const CALLS = [
  { call: ["checkpoint", "more"], list: 0, listed: ["kept"] },
  { call: ["restoreCheckpoint", "kept"], list: 1, listed: ["kept", "auto"] },
] as const;

it.each(CALLS)(
  "takes a $call.0 back everywhere when its list is not sure to stay (R262)",
  async ({ call, list, listed }) => {
    const point = syncsOfLists(await faultPoints(traced(await edited(), call)))[list];
    const site = await edited();
    const run = await runWithFault(traced(site, call), { at: point?.at ?? 0 }, { error: "EIO" });
    expect(run).toMatchObject({ fired: true, code: 0 });
    const { error } = JSON.parse(run.stdout) as Answers;
    expect(error).toMatchObject({
      code: "CHECKPOINT",
      data: { checkpointId: call[1], reason: "failed" },
    });
    expect(await idsOf(site)).toEqual(listed);
    expect(IDS.map((id) => keptIn(site, id).length)).toEqual(IDS.map(() => listed.length));
    expect(await contents(site, IDS)).toEqual(["later\n", "later\n"]);
    const { sandboxes } = await site.plan.describe();
    expect(sandboxes.map(({ interrupted }) => interrupted)).toEqual([false, false]);
    await site.plan[call[0]](call[1]);
    expect(await idsOf(site)).toContain(call[1]);
  },
);
