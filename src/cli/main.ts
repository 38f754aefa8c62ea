#!/usr/bin/env node
import { runCommandLine } from "./program.ts";

// Whoever reads the output may stop at any time, as `head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});
// What is said beside the answer is never a reason to stop the work.
process.stderr.on("error", () => undefined);

process.exitCode = await runCommandLine(process.argv.slice(2));
