import { runDemo } from "../demo/demo-steps.ts";
import type { ExitCode } from "../command.ts";
import { styleFor } from "../style.ts";

/** `coffer demo`: a sandbox at work, step by step. */
export async function demonstrate(options: { readonly strategy?: string }): Promise<ExitCode> {
  const style = styleFor(process.stdout);
  let count = 0;
  const voice = {
    step(text: string): void {
      count += 1;
      console.log(`${count > 1 ? "\n" : ""}${style.bold(`${count}. ${text}`)}`);
    },
    tell(text: string): void {
      for (const line of text.split("\n")) console.log(`   ${line}`);
    },
  };
  await runDemo(voice, options.strategy);
  return 0;
}
