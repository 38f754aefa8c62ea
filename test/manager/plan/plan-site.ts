import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { CofferdamOptions, Plan, Sandbox } from "../../../src/index.ts";
import { type Oracle, takeOracle } from "../../support/oracle.ts";
import { type Site, edit, openSite, plantData, run } from "../site.ts";

/** A plan over several real directories, each with edits. */
export interface PlanSite {
  readonly site: Site;
  readonly plan: Plan;
  /** The real directory of a resource. */
  readonly real: (id: string) => string;
  readonly sandbox: (id: string) => Sandbox;
  /** The real directories before anything was committed. */
  readonly before: Readonly<Record<string, Oracle>>;
}

/** Makes a plan with one edited sandbox for each id, with the strategy that stands behind it. */
export async function openPlanSite(
  strategies: Readonly<Record<string, string>>,
  parents: Readonly<Record<string, readonly string[]>> = {},
  options: CofferdamOptions = {},
): Promise<PlanSite> {
  const site = await openSite(options);
  const real = (id: string): string => join(site.data, "..", `real-${id}`);
  const ids = Object.keys(strategies);
  for (const id of ids) {
    mkdirSync(real(id));
    plantData(real(id));
  }
  const plan = await site.coffer.plan(
    "plan",
    ids.map((id) => ({
      id,
      type: "fs-directory",
      location: real(id),
      sandboxStrategy: strategies[id] ?? "",
      ...(parents[id] !== undefined && { parents: parents[id] }),
    })),
  );
  const sandbox = (id: string): Sandbox => plan.sandbox(id);
  for (const id of ids) await edit(sandbox(id));
  const before = Object.fromEntries(ids.map((id) => [id, takeOracle(real(id))]));
  return { site, plan, real, sandbox, before };
}

/** Whether a real directory has the edits; throws when it is a mixture. */
export function isPublished({ real, before }: PlanSite, id: string): boolean {
  const names = run("find", real(id), "-mindepth", "1", "-printf", "%P\n").trim().split("\n");
  const content = run("cat", join(real(id), "a"));
  const isNew = content === "new a\n" && names.includes("made/new") && !names.includes("b");
  const isOld = JSON.stringify(takeOracle(real(id))) === JSON.stringify(before[id]);
  if (isNew === isOld) throw new Error(`${id} is a mixture: ${names.join(" ")}`);
  return isNew;
}
