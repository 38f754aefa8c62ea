#!/usr/bin/env node
import { keepCompiledCode } from "./start/compiled-code.ts";

let isDone = false;

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // Whoever reads the output may stop at any time, as `head` does.
  isDone = error.code === "EPIPE";
  if (!isDone) process.stderr.write(`coffer: The output cannot be written: ${error.message}\n`);
  process.exit(isDone ? 0 : 1);
});
// What is said beside the answer is never a reason to stop the work.
process.stderr.on("error", () => undefined);
// A command that nothing keeps running any more has not done its work.
process.once("exit", (code) => {
  if (!isDone && code === 0) process.exitCode = 1;
});

async function main(): Promise<void> {
  const tellCommand = keepCompiledCode();
  const { runCommandLine } = await import("./program.ts");
  process.exitCode = await runCommandLine(process.argv.slice(2), tellCommand);
  isDone = true;
}

void main();
