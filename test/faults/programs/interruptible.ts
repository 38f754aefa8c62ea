import { writeSync } from "node:fs";
import { SandboxError, type SandboxRef, openCofferdam } from "../../../src/index.ts";

/** What the program does; SIGUSR2 makes it give up by its AbortSignal. */
export interface InterruptibleOrder {
  readonly state: string;
  readonly ref: SandboxRef;
  readonly operation: "rollback" | "undoCommit" | "restoreCheckpoint";
}

/** How it went. */
export interface InterruptibleAnswer {
  /** Code of the error; null when the call succeeded. */
  readonly code: string | null;
  readonly aborted: boolean;
  /** Whether the error hands the caller's reason on. */
  readonly isOwnReason: boolean;
}

const { state, ref, operation } = JSON.parse(process.argv[2] ?? "") as InterruptibleOrder;
const controller = new AbortController();
process.on("SIGUSR2", () => controller.abort(new Error("the caller has enough")));
const { signal } = controller;
let told: InterruptibleAnswer = { code: null, aborted: false, isOwnReason: false };
{
  await using coffer = await openCofferdam({ stateDirectory: state, config: false });
  const sandbox = coffer.sandbox(ref);
  try {
    if (operation === "restoreCheckpoint") await sandbox.restoreCheckpoint("kept", { signal });
    else await sandbox[operation]({ signal });
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    told = { ...told, code: error.code, isOwnReason: error.cause === signal.reason };
  }
}
writeSync(1, JSON.stringify({ ...told, aborted: signal.aborted }));
