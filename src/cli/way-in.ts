import type { SandboxDescription } from "../index.ts";
import type { ToldPlan } from "./describe-plan.ts";
import { quoted } from "./quoted.ts";

/** The command that leads into the first folder of a plan; none where nothing has one, as a single file. */
export function wayIn(
  { planId, sandboxes }: ToldPlan,
  described: readonly SandboxDescription[],
): (readonly [line: string, meaning: string])[] {
  const files = described.filter(({ resource }) => resource.type === "fs-file");
  const isFile = (id: string): boolean => files.some(({ ref }) => ref.resourceId === id);
  const first = sandboxes.find(({ path, resourceId }) => path !== null && !isFile(resourceId));
  if (first === undefined) return [];
  const which = sandboxes.length === 1 ? "" : ` ${quoted(first.resourceId)}`;
  return [[`cd "$(coffer path ${quoted(planId)}${which})"`, "work in it"]];
}
