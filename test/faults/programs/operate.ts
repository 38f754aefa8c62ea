import { mkdirSync, writeSync } from "node:fs";
import { SandboxError, openCofferdam } from "../../../src/index.ts";
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
      const plan = await coffer.plan(order.planId);
      if ("checkpointId" in order) {
        const isNew = order.operation === "plan.checkpoint";
        await plan[isNew ? "checkpoint" : "restoreCheckpoint"](order.checkpointId);
      } else {
        await (order.operation === "plan.commit" ? plan.commit() : plan.undo());
      }
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
} catch (error) {
  if (!(error instanceof SandboxError)) throw error;
  tell({ outcome: "failed", error: error.toJSON() });
}

function tell(told: Told): void {
  writeSync(1, `${JSON.stringify(told)}\n`);
}
