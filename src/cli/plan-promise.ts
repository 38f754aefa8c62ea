import type { PlanPromise } from "../index.ts";
import { quoted } from "./quoted.ts";
import { printable } from "./render/printable.ts";

/** What has to be known of a plan before anybody works in it: nothing where it is all or nothing. */
export function promiseLines({ blockers }: PlanPromise): string[] {
  if (blockers.length === 0) return [];
  const why = blockers.map(
    ({ resourceId, why: reason }) => `  ${printable(resourceId)}: ${printable(reason)}`,
  );
  return ["All or nothing cannot be promised for this plan:", ...why];
}

/** The command that publishes a plan, with what it does. */
export function commitLine(
  planId: string,
  { level }: PlanPromise,
): readonly [command: string, what: string] {
  const command = `coffer commit ${quoted(planId)}`;
  return level === "bestEffort"
    ? [`${command} --best-effort`, "publish it; a crash in the middle may leave a part"]
    : [command, "publish it, all or nothing"];
}
