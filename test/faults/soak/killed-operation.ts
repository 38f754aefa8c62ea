import { existsSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startChild } from "../../support/child.ts";
import type { Order, PlanOperation, Told } from "../order.ts";

const PROGRAM = new URL("../programs/operate.ts", import.meta.url);
/** Longer than most operations take, so that some come to their end. */
const LONGEST_MS = 250;

/** What a process is to do, and where. */
export type SoakOperation =
  { readonly operation: "open" } | { readonly operation: PlanOperation; readonly planId: string };

/**
 * Lets another process do something and kills it somewhere in the middle, unless it was faster or is to be spared. Gives
 * what it said; null when it was killed.
 */
export async function operateAndKill(
  folder: string,
  operation: SoakOperation,
  random: () => number,
): Promise<Told | null> {
  const begun = join(folder, "begun");
  const isSpared = random() < 0.2;
  const wait = random() * LONGEST_MS;
  // An opening has no other sign of having begun.
  const sign = operation.operation === "open" ? {} : { begun };
  const order: Order = { state: join(folder, "state"), ...sign, ...operation };
  const child = await startChild(PROGRAM, [JSON.stringify(order)]);
  if (!isSpared) {
    const end = child.result.then(() => "ended" as const);
    const isAwaited = (): boolean => operation.operation !== "open" && !existsSync(begun);
    while (isAwaited() && (await Promise.race([end, pause(2)])) !== "ended");
    await Promise.race([end, pause(wait)]);
    child.process.kill("SIGKILL");
  }
  const { code, signal, stdout, stderr } = await child.result;
  if (existsSync(begun)) rmdirSync(begun);
  if (signal === "SIGKILL") return null;
  if (code !== 0) throw new Error(`no typed error left the program: ${code} ${stderr}`);
  return JSON.parse(stdout) as Told;
}
