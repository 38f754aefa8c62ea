#!/usr/bin/env node
import { keepCompiledCode } from "./start/compiled-code.ts";

// Whoever reads the output may stop at any time, as `head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});
// What is said beside the answer is never a reason to stop the work.
process.stderr.on("error", () => undefined);

async function main(): Promise<void> {
  const tellCommand = keepCompiledCode();
  const { runCommandLine } = await import("./program.ts");
  process.exitCode = await runCommandLine(process.argv.slice(2), tellCommand);
}

// Until a command says otherwise: one that nothing keeps running any more has not done its work.
process.exitCode = 1;
void main();
