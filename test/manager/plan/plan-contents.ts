import { readdirSync } from "node:fs";
import type { PlanSite } from "./plan-site.ts";

/** One sandbox of each kind. */
export const MIXED = { one: "overlay", two: "copy_on_write", three: "probe" };
/** Their ids. */
export const IDS = ["one", "two", "three"] as const;

/** What every sandbox shows at one path. */
export async function contents(
  { sandbox }: PlanSite,
  ids: readonly string[] = IDS,
): Promise<string[]> {
  const read = (id: string): Promise<Uint8Array> => sandbox(id).read("a");
  return Promise.all(ids.map(async (id) => Buffer.from(await read(id)).toString()));
}

/** Writes the same to every sandbox. */
export async function writeAll({ sandbox }: PlanSite, text: string): Promise<void> {
  for (const id of IDS) await sandbox(id).write("a", text);
}

/** The checkpoints that a copying strategy keeps for a sandbox. */
export function keptIn({ sandbox }: PlanSite, id: string): string[] {
  const { metadata } = sandbox(id).ref;
  const folder = (metadata["folder"] ?? metadata["directory"]) as string;
  return readdirSync(folder).filter((name) => /^(c|checkpoint)-/.test(name));
}

/** The checkpoints of the plan in their order. */
export async function idsOf({ plan }: PlanSite): Promise<string[]> {
  return (await plan.checkpoints()).map(({ id, automatic }) => (automatic ? "auto" : id));
}
