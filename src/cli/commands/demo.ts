import { setImmediate as turn } from "node:timers/promises";
import { OperationTimeoutError } from "../../light.ts";
import type { Call } from "../call.ts";
import { runDemo } from "../demo/demo-steps.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { styleFor } from "../style.ts";

/** `coffer demo`: a sandbox at work, step by step. */
export async function demonstrate(call: Call): Promise<ExitCode> {
  const style = styleFor(process.stdout);
  const steps: { readonly step: string; readonly told: string[] }[] = [];
  const voice = {
    step(text: string): void {
      steps.push({ step: text, told: [] });
      const gap = steps.length > 1 ? "\n" : "";
      if (!call.json) console.log(`${gap}${style.bold(`${steps.length}. ${text}`)}`);
    },
    tell(text: string): void {
      for (const line of text.split("\n")) {
        steps.at(-1)?.told.push(line);
        if (!call.json) console.log(`   ${line}`);
      }
    },
  };
  try {
    await runDemo(voice, call.signal);
  } catch (error) {
    // Its commands are waited for, so that a signal is heard only now.
    await turn();
    throw call.signal.aborted ? stopped(error) : error;
  }
  if (call.json) call.answerJson({ steps });
  return EXIT.done;
}

function stopped(cause: unknown): OperationTimeoutError {
  return new OperationTimeoutError("The demo was stopped; nothing of it is left", {
    data: { limitMs: 0, childEnded: true },
    operation: "demo",
    cause,
  });
}
