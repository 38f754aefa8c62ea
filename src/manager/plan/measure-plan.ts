import { errnoOf } from "../../errors/index.ts";
import type { BytePath } from "../../model/byte-path.ts";
import type { SandboxRef } from "../../model/sandbox-ref.ts";
import { runTask } from "../../tree/threads/pool.ts";
import type { Engine } from "../engine.ts";
import { tracked } from "../with-sandbox.ts";

/** The room that a plan takes on disk. */
export interface PlanSize {
  readonly planId: string;
  readonly bytes: number;
  /** By resource id. */
  readonly resources: Readonly<Record<string, number>>;
}

/** Adds up what the folders of a plan's sandboxes take, which their strategies tell as `directory` in the ref. */
export function measurePlan(engine: Engine, planId: string): Promise<PlanSize> {
  return tracked(engine, async () => {
    const resources: Record<string, number> = {};
    for (const { ref } of engine.store.list(planId)) resources[ref.resourceId] = await sizeOf(ref);
    const bytes = Object.values(resources).reduce((sum, size) => sum + size, 0);
    return { planId, bytes, resources };
  });
}

async function sizeOf({ metadata }: SandboxRef): Promise<number> {
  const { directory } = metadata;
  if (typeof directory !== "string") return 0;
  try {
    return await runTask("measureTree", { root: directory as BytePath, only: null, exclude: [] });
  } catch (error) {
    // It was cleaned up meanwhile.
    if (errnoOf(error) === "ENOENT") return 0;
    throw error;
  }
}
