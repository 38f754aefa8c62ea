import { mkdirSync, writeSync } from "node:fs";
import { type Plan, SandboxError, openCofferdam } from "../../../src/index.ts";
import type { Order, Told } from "../order.ts";

/** Opens the sandboxes and does one thing with them, as any program of a user would. */
const order = JSON.parse(process.argv[2] ?? "") as Order;
try {
  await using coffer = await openCofferdam({
    stateDirectory: order.state,
    config: false,
    strategies: {},
    ...(order.recover !== undefined && { recover: order.recover }),
  });
  // Calls from here on belong to the operation itself.
  if (order.begun !== undefined) mkdirSync(order.begun);
  tell({ outcome: "done", ref: await operate() });

  async function operate(): Promise<Told["ref"]> {
    if (order.operation === "open") return undefined;
    if (order.operation === "create") {
      return coffer.create(order.planId, order.resource, { strategy: order.strategy });
    }
    if ("planId" in order) {
      await operateOnPlan(await coffer.plan(order.planId));
      return undefined;
    }
    const sandbox = coffer.sandbox(order.ref);
    switch (order.operation) {
      case "write":
        await sandbox.write(order.path, order.content);
        break;
      case "getPath":
        await sandbox.getPath();
        break;
      case "checkpoint":
      case "restoreCheckpoint":
        await sandbox[order.operation](order.checkpointId);
        break;
      case "commit":
      case "rollback":
      case "undoCommit":
        await sandbox[order.operation]();
        break;
      case "cleanup":
        await sandbox.cleanup({ force: order.force === true });
        break;
    }
    return order.ref;
  }

  async function operateOnPlan(plan: Plan): Promise<void> {
    if (order.operation === "plan.checkpoint") await plan.checkpoint(order.checkpointId);
    if (order.operation === "plan.restoreCheckpoint")
      await plan.restoreCheckpoint(order.checkpointId);
    if (order.operation === "plan.fork") await plan.fork(order.name);
    if (order.operation === "plan.commit") await plan.commit();
    if (order.operation === "plan.undo") await plan.undo();
    if (order.operation === "plan.cleanup") await plan.cleanup();
  }
} catch (error) {
  if (!(error instanceof SandboxError)) throw error;
  tell({ outcome: "failed", error: error.toJSON() });
}

function tell(told: Told): void {
  writeSync(1, `${JSON.stringify(told)}\n`);
}
