import { writeSync } from "node:fs";
import { SandboxError, type SandboxRef, openCofferdam } from "../../../src/index.ts";

/** What the program does; SIGUSR2 makes it give up by its AbortSignal. */
export interface InterruptibleOrder {
  readonly state: string;
  readonly ref: SandboxRef;
  readonly operation: "rollback" | "undoCommit" | "restoreCheckpoint";
}

const { state, ref, operation } = JSON.parse(process.argv[2] ?? "") as InterruptibleOrder;
const controller = new AbortController();
process.on("SIGUSR2", () => controller.abort(new Error("the caller has enough")));
const { signal } = controller;
let told: unknown = null;
{
  await using coffer = await openCofferdam({ stateDirectory: state, config: false });
  const sandbox = coffer.sandbox(ref);
  try {
    if (operation === "restoreCheckpoint") await sandbox.restoreCheckpoint("kept", { signal });
    else await sandbox[operation]({ signal });
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    told = error.toJSON();
  }
}
writeSync(1, JSON.stringify({ error: told, aborted: signal.aborted }));
