import { mkdirSync, writeSync } from "node:fs";
import { type Plan, SandboxError, openCofferdam } from "../../../src/index.ts";
import type { Order, PlanOperation, Told } from "../order.ts";
import { OWN_STRATEGIES } from "../own-strategies.ts";

/** Opens the sandboxes and does one thing with them, as any program of a user would. */
const order = JSON.parse(process.argv[2] ?? "") as Order;
try {
  await using coffer = await openCofferdam({
    stateDirectory: order.state,
    config: order.config ?? false,
    strategies: OWN_STRATEGIES,
    ...(order.recover !== undefined && { recover: order.recover }),
  });
  // Calls from here on belong to the operation itself.
  if (order.begun !== undefined) mkdirSync(order.begun);
  tell(await operate());

  async function operate(): Promise<Told> {
    if (order.operation === "open") return { outcome: "done" };
    if (order.operation === "create") {
      const { planId, resource, strategy } = order;
      return { outcome: "done", ref: await coffer.create(planId, resource, { strategy }) };
    }
    if ("planId" in order) {
      const plan = await coffer.plan(order.planId);
      if (order.operation === "plan.checkpoint") await plan.checkpoint(order.checkpointId);
      else if (order.operation === "plan.fork") await plan.fork(order.name);
      else if (order.operation === "plan.restoreCheckpoint")
        await plan.restoreCheckpoint(order.checkpointId);
      else return operateOnPlan(plan, order.operation);
      return { outcome: "done" };
    }
    const sandbox = coffer.sandbox(order.ref);
    switch (order.operation) {
      case "write":
        await sandbox.write(order.path, order.content);
        break;
      case "getPath":
        await sandbox.getPath();
        break;
      case "drop":
        await sandbox.drop([""]);
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
    return { outcome: "done", ref: order.ref };
  }
} catch (error) {
  if (!(error instanceof SandboxError)) throw error;
  tell({ outcome: "failed", error: error.toJSON() });
}

async function operateOnPlan(plan: Plan, operation: PlanOperation): Promise<Told> {
  if (operation === "plan.commit") {
    const { outcome } = await plan.commit();
    return { outcome: "done", committed: outcome };
  }
  if (operation === "plan.undo") {
    await plan.undo();
    return { outcome: "done" };
  }
  // These go on after failures and tell them in their reports alone.
  const { failed } = await (operation === "plan.rollback" ? plan.rollback() : plan.cleanup());
  const [error] = Object.values(failed);
  return error === undefined ? { outcome: "done" } : { outcome: "failed", error };
}

function tell(told: Told): void {
  writeSync(1, `${JSON.stringify(told)}\n`);
}
