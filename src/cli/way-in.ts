import type { ToldPlan } from "./describe-plan.ts";
import { quoted } from "./quoted.ts";

/** The command that leads into the first workspace of a plan; none where nothing has one. */
export function wayIn({
  planId,
  sandboxes,
}: ToldPlan): (readonly [line: string, meaning: string])[] {
  const first = sandboxes.find(({ path }) => path !== null);
  if (first === undefined) return [];
  const which = sandboxes.length === 1 ? "" : ` ${quoted(first.resourceId)}`;
  return [[`cd "$(coffer path ${quoted(planId)}${which})"`, "work in it"]];
}
